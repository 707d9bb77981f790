import { describe, expect, it } from 'vitest';
import { defaultState, type Source, type State } from './state';
import { formatState, parseState } from './url';
import { paneNames, viewNames } from './views';

// A small generator with a seed: a failure names the seed, and repeats.
function random(seed: number) {
  let state = seed;
  const next = () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(...values: T[]): T => values[below(values.length)];
  const pieces = [
    'a',
    '=',
    '&',
    '%',
    '+',
    ' ',
    '"',
    '{',
    '}',
    ':',
    '#',
    '?',
    '/',
    '\\',
    '<b>',
    'λ',
    '‮',
    '😀',
    '\n',
    'std::vector<int>',
  ];
  const text = () => Array.from({ length: below(6) }, () => pick(...pieces)).join('');
  return { below, pick, text };
}

function anyState(seed: number): State {
  const { below, pick, text } = random(seed);
  const source = (): Source => ({
    query: text(),
    from: pick('now-1h', '1763200000000', text()),
    to: pick('now', text()),
    file: pick('', text()),
    ...pick(
      {},
      { valueMin: '5', valueMax: '70' },
      { rateMin: '1.5', rateMax: '2e+21' },
      { sampleFrom: '1763200000000000000' },
    ),
  });
  const flag = () => pick(true, false);
  return {
    view: pick(...viewNames),
    source: source(),
    baseline: pick(null, source()),
    refresh: below(100),
    trace: text(),
    span: text(),
    sampleLabels: text(),
    steps: Array.from({ length: below(4) }, () => ({
      kind: pick('focus', 'ignore', 'hide', 'show', 'show_from'),
      pattern: text(),
    })),
    group: pick('function', 'line', 'file', 'binary'),
    root: text(),
    inverted: flag(),
    recursion: flag(),
    zoom: Array.from({ length: below(4) }, text),
    sandwich: text(),
    pane: pick(...paneNames),
    search: text(),
    matching: flag(),
    color: pick('auto', 'binary', 'kind', 'package', 'file', 'self', 'state'),
    order: pick('name', 'weight'),
    flip: flag(),
    shorten: flag(),
    isolate: text(),
    nodes: below(1_000_000),
    sort: pick('-self', 'name', text()),
    direction: pick('top-down', 'bottom-up'),
    seriesBy: text(),
    scale: pick('rate', 'absolute', 'normalized'),
    change: pick('all', 'new', 'removed', 'changed', 'significant'),
    heatmap: pick('value', 'offset'),
    servicesFilter: text(),
    servicesType: text(),
    servicesSort: pick('-rate', 'name', text()),
    sourceFile: text(),
    sourceLine: below(100_000),
  };
}

describe('the address', () => {
  it('brings back any state', () => {
    for (let seed = 0; seed < 2000; ++seed) {
      const state = anyState(seed);
      expect(parseState(formatState(state)), `seed ${seed}`).toEqual(state);
    }
  }, 60_000);

  it('is empty for the default', () => {
    expect(formatState(defaultState)).toBe('');
    expect(parseState('')).toEqual(defaultState);
  });

  it('does not repeat what both sides share', () => {
    const source = { ...defaultState.source, query: 'cpu{}' };
    const state: State = { ...defaultState, view: 'diff', source, baseline: { ...source, to: 'now-1h' } };
    expect(formatState(state)).toBe('?view=diff&query=cpu%7B%7D&baseline=1&base_to=now-1h');
  });

  it('forgives words that it does not know', () => {
    expect(parseState('?view=nonsense&pane=3d&nodes=-1&refresh=1e9&step=explode:x&step=focus:a:b&unknown=1')).toEqual({
      ...defaultState,
      steps: [{ kind: 'focus', pattern: 'a:b' }],
    });
  });
});
