// Everything that a link restores. Plain data: no component keeps state of its own that a colleague who opens the link
// would miss. url.ts writes and reads it, store.ts holds the current one.
import type { Pane, View } from './views';

export type { Pane, View };
export type GroupBy = 'function' | 'line' | 'file' | 'binary';
// auto: by binary, or by package where nearly everything is of one binary.
export type ColorBy = 'auto' | 'binary' | 'kind' | 'package' | 'file' | 'self' | 'state';
export type ChildOrder = 'name' | 'weight';
export type Direction = 'top-down' | 'bottom-up';
// rate: per second and instance; absolute: totals; normalized: shares of each side's total.
export type Scale = 'rate' | 'absolute' | 'normalized';
export type ChangeFilter = 'all' | 'new' | 'removed' | 'changed' | 'significant';
export type HeatmapKind = 'value' | 'offset';

// Steps change which stacks and frames are seen, in all views alike. The server applies all of them; a pattern is an RE2
// expression on function, file or binary.
//   focus      only stacks with a matching frame          ignore   no stacks with a matching frame
//   hide       matching frames go, callers take over      show     only matching frames stay
//   show_from  stacks start at the outermost match
export type StepKind = 'focus' | 'ignore' | 'hide' | 'show' | 'show_from';
export interface Step {
  kind: StepKind;
  pattern: string;
}

// "now", "now-1h", or Unix milliseconds as decimal digits.
export type TimeWord = string;

// What is looked at: a selector and a range, or a file that was opened (its id; the selector then only says the type).
export interface Source {
  query: string; // cpu{service_name="checkout"}
  from: TimeWord;
  to: TimeWord;
  file: string; // empty = the store
  // A region of a heat map; absent = everything.
  valueMin?: string; // profiles whose total is at least this, and
  valueMax?: string; // less than this
  rateMin?: string; // profiles with so much per second, of which the part counts that is in the range,
  rateMax?: string; // to less than this
  sampleFrom?: string; // samples with a time from here, in Unix nanoseconds,
  sampleTo?: string; // to before here
}

export interface State {
  view: View;
  source: Source;
  // What the source is compared with. Explore keeps it, so that going to the comparison and back loses nothing.
  baseline: Source | null;
  refresh: number; // seconds between live refreshes; 0 = none

  // Samples of one trace or span, or with labels of their own.
  trace: string;
  span: string;
  sampleLabels: string; // {thread="main"}

  steps: Step[];
  group: GroupBy;
  root: string; // label whose values become the roots; empty = none
  inverted: boolean;
  recursion: boolean; // direct recursion as one frame
  zoom: string[]; // names from the root to the frame that fills the width
  sandwich: string; // function with its callers above and callees below; empty = none

  pane: Pane;
  search: string; // substring, or /expression/ with flags
  matching: boolean; // only stacks that the search finds
  color: ColorBy;
  order: ChildOrder;
  flip: boolean; // flames rather than icicles
  shorten: boolean; // C++ names without templates and parameters
  isolate: string; // entry of the legend that alone keeps its colour; empty = all
  nodes: number; // budget of the flame graph; 0 = the server's
  sort: string; // column of the table, '-' before it for descending: "-self"
  direction: Direction; // of the call tree

  seriesBy: string; // label by which the time series is told apart
  scale: Scale; // of a comparison
  change: ChangeFilter;
  heatmap: HeatmapKind;
  servicesFilter: string;
  servicesType: string; // the only type shown in the list of services; empty = all
  servicesSort: string; // its column, '-' before it for descending: "-rate"
  sourceFile: string; // of the source view
  sourceLine: number;
}

export const defaultSource: Source = { query: '', from: 'now-1h', to: 'now', file: '' };

export const defaultState: State = {
  view: 'services',
  source: defaultSource,
  baseline: null,
  refresh: 0,
  trace: '',
  span: '',
  sampleLabels: '',
  steps: [],
  group: 'function',
  root: '',
  inverted: false,
  recursion: false,
  zoom: [],
  sandwich: '',
  pane: 'flame',
  search: '',
  matching: false,
  color: 'auto',
  order: 'name',
  flip: false,
  shorten: true,
  isolate: '',
  nodes: 0,
  sort: '-self',
  direction: 'top-down',
  seriesBy: '',
  scale: 'rate',
  change: 'all',
  heatmap: 'value',
  servicesFilter: '',
  servicesType: '',
  servicesSort: '-rate',
  sourceFile: '',
  sourceLine: 0,
};
