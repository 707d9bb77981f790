import { describe, expect, it } from 'vitest';
import { classifyEmpty, errorText } from './error_text';

const hour = 3_600_000;
const now = Date.UTC(2026, 10, 15, 12);
const range = { from: now - hour, to: now };
const series = (first: number, last: number) => ({ first_ns: first * 1e6, last_ns: last * 1e6 });

describe('an empty selection', () => {
  it('has no series at all', () => {
    expect(classifyEmpty([], range, now)).toEqual({ kind: 'no-series' });
  });
  it('belongs to a program that stopped sending', () => {
    expect(classifyEmpty([series(now - 9 * hour, now - 2 * hour)], range, now)).toEqual({
      kind: 'stopped',
      last: now - 2 * hour,
    });
  });
  it('has its data at another time', () => {
    const past = { from: now - 50 * hour, to: now - 49 * hour };
    expect(classifyEmpty([series(now - 9 * hour, now - hour)], past, now).kind).toBe('elsewhere');
    expect(classifyEmpty([series(now - 90 * hour, now - 80 * hour)], range, now).kind).toBe('elsewhere');
  });
});

describe('an error', () => {
  it('of a selector is mended in the selector', () => {
    const text = errorText({ kind: 'bad', message: 'selector, column 5: expected a value', hint: '', column: 5 });
    expect(text.action).toBe('edit');
    expect(text.text).toBe('Selector, column 5: expected a value.');
  });
  it('of a file that is gone says that it can be opened again', () => {
    const error = { kind: 'nothing' as const, message: 'no such file', hint: '', column: 0 };
    expect(errorText(error, true).action).toBe('open-file');
    expect(errorText(error).action).toBe('retry');
    expect(errorText({ ...error, message: 'no series match' }, true).action).toBe('retry');
  });
  it('of a limit asks for less', () => {
    expect(errorText({ kind: 'limit', message: 'too much', hint: 'ask for less', column: 0 })).toEqual({
      title: 'The request exceeds a limit of the server',
      text: 'Too much. Ask for less.',
      action: 'shorten',
    });
  });
});
