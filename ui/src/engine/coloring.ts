// Which colour a bar has, and what the legend says about it. Colours are numbers of the palette; which theme is on does
// not matter here.
import type { ColorBy } from '../state/state';
import { baseName, kindNames, packageOf } from '../text/names';
import type { Labels } from './labels';
import { categoryCount, changesAt, hashText, hues, shareCount, sharesAt } from './palette';
import type { Tree } from './tree';

export interface LegendEntry {
  key: string; // what `isolate` of the state holds
  title: string;
  bucket: number;
  weight: number; // self weight
  hatched?: boolean;
}

export interface Coloring {
  by: Exclude<ColorBy, 'auto'> | 'change'; // what was decided
  bucket(node: number): number;
  key(node: number): string; // entry of the legend that the node belongs to
  legend: LegendEntry[];
  rest: number; // entries that the legend has no room for; they have colours all the same
}

const none = '(none)';
const legendSize = categoryCount;

function keyOfName(by: Exclude<ColorBy, 'auto' | 'self' | 'state'>, labels: Labels): (name: number) => string {
  switch (by) {
    case 'binary':
      return (name) => (labels.binary(name) ? baseName(labels.binary(name)) : none);
    case 'kind':
      return (name) => kindNames[labels.names.kind[name]] ?? kindNames[0];
    case 'file':
      return (name) => labels.file(name) || none;
    default:
      return (name) => packageOf(labels.text(name), labels.names.kind[name]);
  }
}

export function weightsOfNames(tree: Tree): Float64Array {
  const out = new Float64Array(tree.names.text.length);
  for (let i = 0; i < tree.count; i++) out[tree.name[i]] += tree.after.self[i] + tree.after.cut[i];
  return out;
}

const apart = (a: number, b: number) => {
  const turn = Math.abs(hues[a] - hues[b]) % 360;
  return Math.min(turn, 360 - turn);
};

// Heavy keys get a colour each, as near to that of their hash as is free and unlike those of heavier ones: the same program
// looks the same every day.
export function spreadBuckets(keys: readonly string[]): Map<string, number> {
  const buckets = new Map<string, number>();
  const taken: number[] = [];
  for (const key of keys) {
    const wanted = hashText(key) % categoryCount;
    let bucket = wanted;
    if (taken.length < categoryCount) {
      search: for (const least of [60, 30, 1]) {
        for (let i = 0; i < categoryCount; i++) {
          bucket = (wanted + i) % categoryCount;
          if (taken.every((other) => apart(bucket, other) >= least)) break search;
        }
      }
      taken.push(bucket);
    }
    buckets.set(key, bucket);
  }
  return buckets;
}

type Category = Exclude<ColorBy, 'auto' | 'self' | 'state'>;

function byCategory(by: Category, tree: Tree, labels: Labels, weights = weightsOfNames(tree)): Coloring {
  const keyOf = keyOfName(by, labels);
  const nameKeys: string[] = new Array(labels.count);
  const sums = new Map<string, number>();
  // The root of everything is of no category.
  const plain = labels.text(tree.name[0]) === '' && labels.file(tree.name[0]) === '';
  if (plain) weights[tree.name[0]] = 0;
  for (let name = 0; name < labels.count; name++) {
    nameKeys[name] = keyOf(name);
    sums.set(nameKeys[name], (sums.get(nameKeys[name]) ?? 0) + weights[name]);
  }
  const sorted = [...sums].filter(([, weight]) => weight > 0).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const buckets = spreadBuckets(sorted.map(([key]) => key));
  const ofName = new Uint8Array(labels.count);
  for (let name = 0; name < labels.count; name++) {
    ofName[name] = buckets.get(nameKeys[name]) ?? hashText(nameKeys[name]) % categoryCount;
  }
  return {
    by,
    bucket: (node) => (node === 0 && plain ? changesAt + 4 : ofName[tree.name[node]]),
    key: (node) => nameKeys[tree.name[node]],
    legend: sorted
      .slice(0, legendSize)
      .map(([key, weight]) => ({ key, title: key, bucket: buckets.get(key)!, weight })),
    rest: Math.max(0, sorted.length - legendSize),
  };
}

// Frames that say what a thread waits for, beside other frames in brackets.
const stateFrame = /^\[([a-z][a-z ]*)\]$/;
const otherMarks = new Set(['idle', 'filtered', 'truncated', 'guessed caller']);
const running = 'running';

function stateOfText(text: string): string | undefined {
  const state = stateFrame.exec(text)?.[1];
  return state !== undefined && !otherMarks.has(state) ? state : undefined;
}

// What threads do in a bar: what most of its weight runs or waits for. The frame of a state is the innermost one, so in an
// inverted graph it stands above the others.
function byState(tree: Tree, labels: Labels): Coloring {
  const ofName = Array.from({ length: labels.count }, (_, name) => stateOfText(labels.text(name)));
  const states = [...new Set([running, ...ofName.filter((state) => state !== undefined)])];
  const numbers = new Map(states.map((state, number) => [state, number]));
  const { self, cut } = tree.after;
  const above = new Int32Array(tree.count).fill(-1); // the state at or above a node
  const sums = new Float64Array(tree.count * states.length);
  const weights = new Float64Array(states.length);
  for (let i = 0; i < tree.count; i++) {
    const own = ofName[tree.name[i]];
    above[i] = own !== undefined ? numbers.get(own)! : i > 0 ? above[tree.parent[i]] : -1;
    const state = Math.max(above[i], 0);
    sums[i * states.length + state] += self[i] + cut[i];
    weights[state] += self[i] + cut[i];
  }
  const most = new Uint16Array(tree.count);
  for (let i = tree.count - 1; i >= 0; i--) {
    const at = i * states.length;
    for (let state = 0; state < states.length; state++) {
      if (sums[at + state] > sums[at + most[i]]) most[i] = state;
      if (i > 0) sums[tree.parent[i] * states.length + state] += sums[at + state];
    }
  }
  const sorted = states.map((_, state) => state).filter((state) => weights[state] > 0);
  sorted.sort((a, b) => weights[b] - weights[a]);
  const buckets = spreadBuckets(sorted.map((state) => states[state]));
  const bucketOf = (state: number) => buckets.get(states[state]) ?? 0;
  return {
    by: 'state',
    bucket: (node) => bucketOf(most[node]),
    key: (node) => states[most[node]],
    legend: sorted.slice(0, legendSize).map((state) => ({
      key: states[state],
      title: states[state],
      bucket: bucketOf(state),
      weight: weights[state],
    })),
    rest: Math.max(0, sorted.length - legendSize),
  };
}

const shareLimits = [0.01, 0.1, 0.25, 0.5, 0.75];
const shareTitles = ['< 1 %', '1 – 10 %', '10 – 25 %', '25 – 50 %', '50 – 75 %', '≥ 75 %'];

function bySelfShare(tree: Tree): Coloring {
  const { self, total } = tree.after;
  const step = (node: number) => {
    const share = total[node] > 0 ? self[node] / total[node] : 0;
    let at = 0;
    while (at < shareLimits.length && share >= shareLimits[at]) at++;
    return at;
  };
  const weights = new Float64Array(shareCount);
  for (let i = 0; i < tree.count; i++) weights[step(i)] += self[i];
  return {
    by: 'self',
    bucket: (node) => sharesAt + step(node),
    key: (node) => shareTitles[step(node)],
    legend: shareTitles.map((title, i) => ({
      key: title,
      title: `self ${title}`,
      bucket: sharesAt + i,
      weight: weights[i],
    })),
    rest: 0,
  };
}

// Change of a weight, from -4 (gone) to 4 (new or more than doubled): by the larger side, so that twice and half are alike.
export const changeLimits = [0.02, 0.1, 0.25, 0.5];

export function changeStep(before: number, after: number): number {
  const larger = Math.max(before, after);
  if (larger <= 0) return 0;
  const change = (after - before) / larger;
  let size = 0;
  while (size < changeLimits.length && Math.abs(change) >= changeLimits[size]) size++;
  return change < 0 ? -size : size;
}

// In percent of what was, not of the larger side: that is how people say it.
const changeTitles: [step: number, title: string][] = [
  [-4, '≤ −50 %'],
  [-3, '−50 … −25'],
  [-2, '−25 … −10'],
  [-1, '−10 … −2'],
  [0, '± 2 %'],
  [1, '+2 … +11'],
  [2, '+11 … +33'],
  [3, '+33 … +100'],
  [4, '≥ +100 %'],
];

function byChange(tree: Tree): Coloring {
  const after = tree.after.total;
  const before = tree.before!.total;
  const step = (node: number) => changeStep(before[node], after[node]);
  const isNew = (node: number) => before[node] <= 0 && after[node] > 0;
  const weights = new Float64Array(10);
  for (let i = 0; i < tree.count; i++) weights[isNew(i) ? 9 : step(i) + 4] += tree.after.self[i];
  const legend: LegendEntry[] = changeTitles.map(([change, title]) => ({
    key: String(change),
    title,
    bucket: changesAt + change + 4,
    weight: weights[change + 4],
  }));
  legend.push({ key: 'new', title: 'new', bucket: changesAt + 8, weight: weights[9], hatched: true });
  return {
    by: 'change',
    bucket: (node) => changesAt + 4 + step(node),
    key: (node) => (isNew(node) ? 'new' : String(step(node))),
    legend,
    rest: 0,
  };
}

// One colour for everything says nothing.
const nearlyAll = 0.95;

export function coloringOf(by: ColorBy, tree: Tree, labels: Labels): Coloring {
  if (tree.before) return byChange(tree);
  if (by === 'self') return bySelfShare(tree);
  if (by === 'state') return byState(tree, labels);
  if (by !== 'auto') return byCategory(by, tree, labels);
  const weights = weightsOfNames(tree);
  const binaries = byCategory('binary', tree, labels, weights);
  const whole = binaries.legend.reduce((sum, { weight }) => sum + weight, 0);
  return (binaries.legend[0]?.weight ?? 0) > nearlyAll * whole
    ? byCategory('package', tree, labels, weights)
    : binaries;
}
