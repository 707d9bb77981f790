import { describe, expect, it } from 'vitest';
import { defaultState, type State } from '../state/state';
import { callersQuestion, canExpand, flameQuestion, jobOf } from './question';

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
});
