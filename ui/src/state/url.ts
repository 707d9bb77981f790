// State as the query part of an address and back. What has its default is left out; what cannot be understood falls back
// to the default, so that a link from another version still opens. For all states: parse(format(state)) equals state.
import { defaultState, type Source, type State, type Step, type StepKind } from './state';
import { paneNames, viewNames } from './views';

type Codec<T> = { write(value: T): string; read(text: string): T | undefined };

const text: Codec<string> = { write: (value) => value, read: (value) => value };
const flag: Codec<boolean> = {
  write: (value) => (value ? '1' : '0'),
  read: (value) => (value === '1' ? true : value === '0' ? false : undefined),
};
const count: Codec<number> = {
  write: String,
  read: (value) => (/^\d{1,9}$/.test(value) ? Number(value) : undefined),
};
function word<T extends string>(...words: T[]): Codec<T> {
  return { write: (value) => value, read: (value) => words.find((candidate) => candidate === value) };
}

type Scalars = Omit<State, 'source' | 'baseline' | 'steps' | 'zoom'>;
type Fields = { [Key in keyof Scalars]: [name: string, codec: Codec<Scalars[Key]>] };

const fields: Fields = {
  view: ['view', word(...viewNames)],
  refresh: ['refresh', count],
  trace: ['trace', text],
  span: ['span', text],
  sampleLabels: ['samples', text],
  group: ['group', word('function', 'line', 'file', 'binary')],
  root: ['root', text],
  inverted: ['inverted', flag],
  recursion: ['recursion', flag],
  sandwich: ['sandwich', text],
  pane: ['pane', word(...paneNames)],
  search: ['search', text],
  matching: ['matching', flag],
  color: ['color', word('auto', 'binary', 'kind', 'package', 'file', 'self', 'state')],
  order: ['order', word('name', 'weight')],
  flip: ['flip', flag],
  shorten: ['shorten', flag],
  isolate: ['isolate', text],
  nodes: ['nodes', count],
  sort: ['sort', text],
  direction: ['direction', word('top-down', 'bottom-up')],
  seriesBy: ['by', text],
  scale: ['scale', word('rate', 'absolute', 'normalized')],
  change: ['change', word('all', 'new', 'removed', 'changed', 'significant')],
  heatmap: ['heatmap', word('value', 'offset')],
  servicesFilter: ['filter', text],
  servicesType: ['type', text],
  servicesSort: ['services_sort', text],
  sourceFile: ['source', text],
  sourceLine: ['line', count],
};

const sourceNames: ['query' | 'from' | 'to' | 'file', string][] = [
  ['query', 'query'],
  ['from', 'from'],
  ['to', 'to'],
  ['file', 'file'],
];
const regionNames: ['valueMin' | 'valueMax' | 'rateMin' | 'rateMax' | 'sampleFrom' | 'sampleTo', string][] = [
  ['valueMin', 'value_min'],
  ['valueMax', 'value_max'],
  ['rateMin', 'rate_min'],
  ['rateMax', 'rate_max'],
  ['sampleFrom', 'sample_from'],
  ['sampleTo', 'sample_to'],
];

const stepKinds: readonly StepKind[] = ['focus', 'ignore', 'hide', 'show', 'show_from'];

function readStep(value: string): Step | undefined {
  const colon = value.indexOf(':');
  const kind = stepKinds.find((candidate) => candidate === value.slice(0, colon));
  return kind ? { kind, pattern: value.slice(colon + 1) } : undefined;
}

function writeSource(parameters: URLSearchParams, source: Source, base: Source, prefix: string) {
  for (const [key, name] of sourceNames) {
    if (source[key] !== base[key]) parameters.set(prefix + name, source[key]);
  }
  for (const [key, name] of regionNames) {
    if ((source[key] ?? '') !== (base[key] ?? '')) parameters.set(prefix + name, source[key] ?? '');
  }
}

function readSource(parameters: URLSearchParams, base: Source, prefix: string): Source {
  const source = { ...base };
  for (const [key, name] of sourceNames) source[key] = parameters.get(prefix + name) ?? base[key];
  for (const [key, name] of regionNames) {
    const value = parameters.get(prefix + name) ?? base[key];
    if (value) source[key] = value;
    else delete source[key];
  }
  return source;
}

// `base` is what an empty address stands for.
export function formatState(state: State, base = defaultState): string {
  const parameters = new URLSearchParams();
  const put = <Key extends keyof Scalars>(key: Key) => {
    const [name, codec] = fields[key];
    if (state[key] !== base[key]) parameters.set(name, codec.write(state[key]));
  };
  put('view');
  writeSource(parameters, state.source, base.source, '');
  if (state.baseline && !base.baseline) {
    parameters.set('baseline', '1');
    // Most comparisons differ in one thing only: what is alike is not repeated.
    writeSource(parameters, state.baseline, state.source, 'base_');
  }
  for (const key of Object.keys(fields) as (keyof Scalars)[]) if (key !== 'view') put(key);
  for (const step of state.steps) parameters.append('step', `${step.kind}:${step.pattern}`);
  for (const name of state.zoom) parameters.append('zoom', name);
  const query = parameters.toString();
  return query ? `?${query}` : '';
}

export function parseState(query: string, base = defaultState): State {
  const parameters = new URLSearchParams(query);
  const state: State = { ...base };
  const take = <Key extends keyof Scalars>(key: Key) => {
    const [name, codec] = fields[key];
    const value = parameters.get(name);
    const read = value === null ? undefined : codec.read(value);
    if (read !== undefined) (state as Scalars)[key] = read;
  };
  for (const key of Object.keys(fields) as (keyof Scalars)[]) take(key);
  state.source = readSource(parameters, base.source, '');
  state.baseline = parameters.get('baseline') === '1' ? readSource(parameters, state.source, 'base_') : base.baseline;
  state.steps = parameters.getAll('step').flatMap((value) => readStep(value) ?? []);
  state.zoom = parameters.getAll('zoom');
  return state;
}
