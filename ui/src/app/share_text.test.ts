import { describe, expect, it } from 'vitest';
import { defaultState, type State } from '../state/state';
import { formatState, parseState } from '../state/url';
import { csv, exportName, exportParameters, frozenState, shellQuote, vestaCommand } from './share_text';

const now = Date.UTC(2026, 10, 15, 12);
const server = 'http://localhost:4040';
const explore = (change: Partial<State> = {}): State => ({
  ...defaultState,
  view: 'explore',
  source: { ...defaultState.source, query: 'cpu{service_name="checkout"}' },
  ...change,
});

describe('a link', () => {
  it('shows the same data later', () => {
    const link = formatState(
      frozenState(explore({ refresh: 5, baseline: { ...defaultState.source, from: 'now-2h', to: 'now-1h' } }), now),
    );
    const opened = parseState(link);
    expect(opened.source).toMatchObject({ from: String(now - 3_600_000), to: String(now) });
    expect(opened.baseline).toMatchObject({ from: String(now - 7_200_000), to: String(now - 3_600_000) });
    expect(opened.refresh).toBe(0);
    expect(link).not.toContain('now');
  });
  it('keeps times that stand still already', () => {
    const source = { ...defaultState.source, from: '1763200000000', to: '1763203600000' };
    expect(frozenState(explore({ source }), now).source).toBe(source);
  });
});

// A POSIX shell, as far as words and single quotes go.
function shellWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let i = 0; i < line.length; ++i) {
    if (line[i] === "'") {
      const end = line.indexOf("'", i + 1);
      word = (word ?? '') + line.slice(i + 1, end);
      i = end;
    } else if (line[i] === '\\') word = (word ?? '') + line[++i];
    else if (line[i] === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + line[i];
  }
  if (word !== undefined) words.push(word);
  return words;
}

describe('a command', () => {
  it('asks the same question', () => {
    expect(vestaCommand(explore({ pane: 'table' }), server)).toBe(
      `vesta top 'cpu{service_name="checkout"}' --from now-1h --to now --server http://localhost:4040`,
    );
  });
  it('has the filters', () => {
    const state = explore({
      pane: 'tree',
      group: 'line',
      steps: [
        { kind: 'focus', pattern: "it's $(rm -rf /)" },
        { kind: 'show_from', pattern: '^main$' },
      ],
    });
    expect(shellWords(vestaCommand(state, server))).toEqual([
      'vesta',
      'tree',
      'cpu{service_name="checkout"}',
      '--from',
      'now-1h',
      '--to',
      'now',
      '--focus',
      "it's $(rm -rf /)",
      '--show-from',
      '^main$',
      '--granularity',
      'line',
      '--server',
      server,
    ]);
  });
  it('compares', () => {
    const state = explore({ view: 'diff', scale: 'normalized' });
    state.baseline = { ...state.source, from: 'now-2h', to: 'now-1h' };
    expect(vestaCommand(state, server)).toBe(
      `vesta diff 'cpu{service_name="checkout"}' 'cpu{service_name="checkout"}' --base-from now-2h --base-to now-1h --scale share --from now-1h --to now --server http://localhost:4040`,
    );
  });
  it('compares as the page does, whatever the command would do by itself', () => {
    const scaleOf = (more: Parameters<typeof explore>[0]) => {
      const state = explore({ view: 'diff', ...more });
      state.baseline = state.source;
      return shellWords(vestaCommand(state, server))
        .join(' ')
        .match(/--scale (\w+)/)?.[1];
    };
    expect(scaleOf({})).toBeUndefined(); // by rate
    expect(scaleOf({ scale: 'absolute' })).toBe('totals');
    expect(scaleOf({ trace: 'ab12' })).toBe('rate');
    expect(scaleOf({ trace: 'ab12', scale: 'absolute' })).toBeUndefined();
  });
  it('asks for a pprof where a selector cannot say it', () => {
    const words = shellWords(vestaCommand(explore({ trace: 'ab12' }), server));
    const address = new URL(words[2]);
    expect(address.pathname).toBe('/api/v1/pprof');
    expect(address.searchParams.get('trace_id')).toBe('ab12');
    expect(address.searchParams.get('from')).toBe('now-1h');
    expect(words).not.toContain('--from');
  });
  it('joins filters that drop, and leaves those that must all match to the server', () => {
    const hide = (pattern: string) => ({ kind: 'hide' as const, pattern });
    const focus = (pattern: string) => ({ kind: 'focus' as const, pattern });
    const words = shellWords(vestaCommand(explore({ steps: [hide('^a'), focus('x'), hide('b|c')] }), server));
    expect(words[words.indexOf('--hide') + 1]).toBe('(?:^a)|(?:b|c)');
    const both = shellWords(vestaCommand(explore({ steps: [focus('x'), focus('y')] }), server));
    expect(new URL(both[2]).searchParams.getAll('focus')).toEqual(['x', 'y']);
    expect(both).not.toContain('--focus');
  });
  it('means what it says for any text', () => {
    for (const text of ["'", "''", '$HOME', '`ls`', 'a\\b', '!x', '\n', '*', '', '-x', 'λ', '"', "a'b'c"]) {
      expect(shellWords(`x ${shellQuote(text)} y`), JSON.stringify(text)).toEqual(['x', text, 'y']);
    }
  });
});

describe('an export', () => {
  it('has only parameters that the route knows', () => {
    const state = explore({ inverted: true, group: 'line', steps: [{ kind: 'hide', pattern: 'x' }] });
    expect([...exportParameters(state, 'svg').keys()]).toEqual(['query', 'from', 'to', 'hide', 'format', 'inverted']);
    expect(exportParameters(state, 'pprof').has('inverted')).toBe(false);
  });
  it('has a name for a folder of downloads', () => {
    expect(exportName(explore(), 'pb.gz', now)).toBe('cpu-checkout-20261115-120000.pb.gz');
    const nasty = explore({ source: { ...defaultState.source, query: 'cpu{a="../../etc/passwd"}' } });
    expect(exportName(nasty, 'svg', now)).not.toMatch(/[/\\]/);
  });
  it('quotes fields of CSV', () => {
    expect(csv(['name', 'flat'], [{ name: 'f(a, "b")', flat: 3 }])).toBe('name,flat\r\n"f(a, ""b"")",3\r\n');
  });
});
