import { describe, expect, it } from 'vitest';
import { defaultState, type State } from '../state/state';
import { callersQuestion, canExpand, flameQuestion, fullBudget, jobOf, largerBudget } from './question';

const source = { ...defaultState.source, query: 'cpu{}' };
const plain: State = { ...defaultState, source };
const both: State = { ...plain, baseline: { ...source, from: 'now-2h', to: 'now-1h' } };
const asked = (state: State, compare: boolean, search = '') => {
  const { path, parameters } = flameQuestion(state, compare, search);
  return `${path}?${decodeURIComponent(parameters.toString())}`;
};

describe('questions to the server', () => {
  it('have what differs from its defaults', () => {
    expect(asked(plain, false)).toBe('flame?query=cpu{}&from=now-1h&to=now&format=columns');
    const all: State = {
      ...plain,
      nodes: 500_000,
      inverted: true,
      root: 'pod',
      group: 'line',
      steps: [{ kind: 'hide', pattern: 'x' }],
    };
    expect(asked(all, false)).toBe(
      'flame?query=cpu{}&from=now-1h&to=now&hide=x&group=line&format=columns&nodes=500000&inverted=1&root_by=pod',
    );
  });

  it('of comparisons leave inverting and the sandwich to the worker', () => {
    const state: State = { ...both, inverted: true, sandwich: 'f' };
    expect(asked(state, true)).not.toContain('inverted');
    expect(callersQuestion(state, true)).toBeNull();
    expect(jobOf(state, true, '', '')).toMatchObject({ inverted: true, sandwich: 'f' });
    expect(jobOf({ ...plain, inverted: true, sandwich: 'f' }, false, '', '')).toMatchObject({
      inverted: false,
      sandwich: '',
    });
    expect(callersQuestion({ ...plain, sandwich: 'f' }, false)?.parameters.get('function')).toBe('f');
  });

  it('ask for matching stacks in the words of the server', () => {
    expect(asked({ ...plain, matching: true }, false, 'a.b')).toContain('focus=(?i)a\\.b');
    expect(asked({ ...plain, matching: true, steps: [{ kind: 'focus', pattern: 'm' }] }, false, '/x|y/')).toContain(
      'focus=m&format=columns&focus=x|y',
    );
    expect(asked(plain, false, 'a.b')).not.toContain('focus');
  });

  it('can be asked for what was cut only where names are those of the server', () => {
    expect([canExpand(plain, false), canExpand({ ...plain, recursion: true }, false)]).toEqual([true, false]);
    expect([canExpand({ ...plain, inverted: true }, false), canExpand({ ...both, inverted: true }, true)]).toEqual([
      true,
      false,
    ]);
  });

  it('ask for all again with a larger budget, until the largest is reached', () => {
    expect(fullBudget(0, 10, 5)).toBe(100_000);
    expect(fullBudget(0, 80_000, 70_000)).toBe(150_000);
    expect(largerBudget(0, 8_000, 0)).toBeNull();
    expect(largerBudget(0, 8_000, 300)).toBe(100_000);
    let nodes: number | null = 0;
    let steps = 0;
    for (let next = largerBudget(nodes, 100, 1); next !== null; next = largerBudget(next, 100, 1)) {
      nodes = next;
      steps++;
    }
    expect([nodes, steps < 10]).toEqual([1_000_000, true]);
  });
});
