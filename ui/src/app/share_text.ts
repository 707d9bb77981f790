// What is handed on: links whose times stand still, and the same question for a shell.
import {
  regionParameters,
  reportParameters,
  sampleParameters,
  sourceParameters,
  stepParameters,
} from '../api/parameters';
import { isRegion } from '../parts/region_chip';
import type { Scale, Source, State, Step, StepKind } from '../state/state';
import { absolute, isRelative, resolveRange } from '../state/time';
import { writtenFormats } from '../text/formats.gen';

function frozenSource(source: Source, now: number): Source {
  return isRelative(source) ? { ...source, ...absolute(resolveRange(source, now)) } : source;
}

// The state as it is at `now`: who opens the link later sees the same data.
export function frozenState(state: State, now: number): State {
  return {
    ...state,
    source: frozenSource(state.source, now),
    baseline: state.baseline && frozenSource(state.baseline, now),
    refresh: 0,
  };
}

// For POSIX shells: everything between single quotes is itself.
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const flags: Record<string, string> = {
  focus: '--focus',
  ignore: '--ignore',
  hide: '--hide',
  show: '--show',
  show_from: '--show-from',
};

const scaleWords: Record<Scale, string> = { rate: 'rate', absolute: 'totals', normalized: 'share' };

// The command takes each filter once. What drops if any matches can be joined; what must all match cannot.
function joined(steps: readonly Step[]): Step[] | undefined {
  const patterns = new Map<StepKind, string[]>();
  for (const { kind, pattern } of steps) patterns.set(kind, [...(patterns.get(kind) ?? []), pattern]);
  const list: Step[] = [];
  for (const [kind, all] of patterns) {
    if (all.length === 1) list.push({ kind, pattern: all[0] });
    else if (kind === 'ignore' || kind === 'hide')
      list.push({ kind, pattern: all.map((one) => `(?:${one})`).join('|') });
    else return undefined;
  }
  return list;
}

// What flags cannot say (a trace, a span, labels of samples, an opened file, two filters of a kind) the address of a
// pprof can: the server then does the filtering.
function needsAddress(state: State): boolean {
  const files = state.source.file || (state.view === 'diff' && state.baseline?.file);
  return Boolean(
    files || isRegion(state.source) || state.trace || state.span || state.sampleLabels || !joined(state.steps),
  );
}

function addressOf(state: State, source: Source, server: string): string {
  const parameters = stepParameters(
    state,
    regionParameters(source, '', sampleParameters(state, sourceParameters(source))),
  );
  return `${server}/api/v1/pprof?${parameters}`;
}

export function vestaCommand(state: State, server: string): string {
  const words: string[] = ['vesta'];
  const put = (...more: string[]) => words.push(...more);
  const { source, baseline } = state;
  const compare = state.view === 'diff' && baseline;
  const address = needsAddress(state);
  const sourceWord = (one: Source) => (address ? addressOf(state, one, server) : one.query || '{}');
  if (compare) {
    put('diff', sourceWord(baseline), sourceWord(source));
    if (!address) {
      if (baseline.from !== source.from) put('--base-from', baseline.from);
      if (baseline.to !== source.to) put('--base-to', baseline.to);
    }
    const usual = address ? 'totals' : 'rate'; // addresses are compared as files are
    if (scaleWords[state.scale] !== usual) put('--scale', scaleWords[state.scale]);
  } else {
    const report = state.pane === 'table' || state.pane === 'both' ? 'top' : state.pane === 'tree' ? 'tree' : 'flame';
    put(report, sourceWord(source));
    if (report === 'top' && /^-?(total|cum)/.test(state.sort)) put('--cum');
  }
  if (!address) put('--from', source.from, '--to', source.to);
  if (!address) for (const step of joined(state.steps) ?? []) put(flags[step.kind], step.pattern);
  if (state.group === 'line' || state.group === 'file') put('--granularity', state.group);
  if (!address) put('--server', server);
  return words.map((word) => shellQuote(word)).join(' ');
}

export function exportParameters(state: State, format: string): URLSearchParams {
  const parameters = sourceParameters(state.source);
  regionParameters(state.source, '', parameters);
  sampleParameters(state, parameters);
  stepParameters(state, parameters);
  parameters.set('format', format);
  if (state.inverted && writtenFormats.some((row) => row.format === format && row.picture))
    parameters.set('inverted', 'true');
  return parameters;
}

// "cpu-checkout-20261115-143000.pb.gz": told apart in a folder of downloads, and safe on any file system.
export function exportName(state: State, extension: string, now: number): string {
  const words = state.source.query.replace(/\w+\s*(=~|!~|!=|=)/g, ' ').match(/[\w.-]+/g) ?? [];
  const { to } = resolveRange(state.source, now);
  const time = new Date(to).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return `${[...words.slice(0, 4), time].join('-').slice(0, 120)}.${extension}`;
}

function csvField(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(columns: readonly string[], rows: readonly object[]): string {
  const lines = rows.map((row) =>
    columns.map((name) => csvField((row as Record<string, string | number>)[name] ?? '')).join(','),
  );
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`;
}

export function topParameters(state: State): URLSearchParams {
  const parameters = reportParameters(state);
  parameters.set('rows', '0');
  return parameters;
}
