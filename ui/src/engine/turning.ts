// Stacks read from where they end towards the root: what runs, and below it who called that.
import { rankNames } from './builder';
import { Labels } from './labels';
import { type Tree, treeOf } from './tree';

// How far stacks are followed.
export interface Extent {
  least: number; // share of the whole below which callers are cut; 0 = all are followed
  opened: readonly (readonly string[])[]; // paths from the root that are followed further, by their own weight
}
const everything: Extent = { least: 0, opened: [] };

type Paths = readonly (readonly string[])[];
const noPaths: Paths = [];
const below = (paths: Paths, step: string) => paths.filter(([first]) => first === step).map((path) => path.slice(1));

type Column = Int32Array | Uint32Array | Uint8Array | Float64Array;

// Columns of a tree whose nodes come in pre-order.
class Nodes {
  count = 0;
  parent: Int32Array;
  name: Uint32Array;
  cutNodes: Uint32Array;
  inlined: Uint8Array;
  self: Float64Array;
  cut: Float64Array;
  selfBefore: Float64Array;
  cutBefore: Float64Array;

  constructor(private readonly like: Tree) {
    const room = Math.max(16, like.count);
    this.parent = new Int32Array(room);
    this.name = new Uint32Array(room);
    this.cutNodes = new Uint32Array(room);
    this.inlined = new Uint8Array(room);
    this.self = new Float64Array(room);
    this.cut = new Float64Array(room);
    this.selfBefore = new Float64Array(like.before ? room : 0);
    this.cutBefore = new Float64Array(like.before ? room : 0);
  }

  push(parent: number, name: number): number {
    const node = this.count++;
    if (node === this.parent.length) this.grow();
    this.parent[node] = parent;
    this.name[node] = name;
    return node;
  }

  finish(): Tree {
    const { count, like } = this;
    const { header, strings, names } = like;
    const part = <T extends Column>(column: T) => column.slice(0, count) as T;
    return treeOf({
      header,
      strings,
      names,
      count,
      parent: part(this.parent),
      name: part(this.name),
      cutNodes: part(this.cutNodes),
      after: { self: part(this.self), cut: part(this.cut) },
      before: like.before && { self: part(this.selfBefore), cut: part(this.cutBefore) },
      inlined: like.inlined && part(this.inlined),
    });
  }

  private grow() {
    const larger = <T extends Column>(column: T): T => {
      const out = new (column.constructor as new (length: number) => T)(column.length * 2);
      out.set(column);
      return out;
    };
    this.parent = larger(this.parent);
    this.name = larger(this.name);
    this.cutNodes = larger(this.cutNodes);
    this.inlined = larger(this.inlined);
    this.self = larger(this.self);
    this.cut = larger(this.cut);
    this.selfBefore = larger(this.selfBefore);
    this.cutBefore = larger(this.cutBefore);
  }
}

// What is still to be read: the stacks order[from .. to) all come by `name` below the node `parent`.
interface Turning {
  parent: number;
  name: number;
  from: number;
  to: number;
  size: number; // weight of those stacks
  bound: number; // less weight than this is not followed
  paths: Paths; // of those to open, what is left below here
}

// Reads stacks from `ends` (or, for callers, from the parents of those) towards the root. What is too light to be followed
// is cut, as what a server's budget leaves out. The user waits for this: no memory is taken for a stack, and nodes are made
// in the order in which they stand, so that nothing is left to sort.
function turnAround(
  tree: Tree,
  root: number, // its name
  ends: Uint32Array,
  side: 'self' | 'total',
  { least, opened }: Extent,
): Nodes {
  const labels = new Labels(tree);
  const rank = rankNames(labels.count, (name) => labels.step(name));
  const { parent, name: nameOf, inlined } = tree;
  const weights = tree.after[side];
  const before = tree.before?.[side] ?? null;
  const at = side === 'self' ? Int32Array.from(ends) : Int32Array.from(ends, (node) => parent[node]); // frame to read next
  const order = Uint32Array.from(ends.keys());
  const sorted = new Uint32Array(ends.length);
  // Of the stacks at hand, by name of their next frame.
  const count = new Uint32Array(labels.count);
  const sum = new Float64Array(labels.count);
  const sumBefore = new Float64Array(labels.count);
  const sizeOf = (name: number) => Math.max(Math.abs(sum[name]), Math.abs(sumBefore[name]));

  for (const end of ends) {
    sum[root] += weights[end];
    if (before) sumBefore[root] += before[end];
  }
  const whole = sizeOf(root);
  sum[root] = 0;
  sumBefore[root] = 0;
  const nodes = new Nodes(tree);
  const work: Turning[] = [
    { parent: -1, name: root, from: 0, to: ends.length, size: whole, bound: least * whole, paths: opened },
  ];
  const next: number[] = []; // names of the frames that the stacks at hand come by next
  for (let item = work.pop(); item; item = work.pop()) {
    const { from, to, size, paths } = item;
    const node = nodes.push(item.parent, item.name);
    const isOpen = paths.length > 0 && paths.some((path) => path.length === 0);
    const bound = isOpen ? least * size : item.bound;
    const follow = paths.length > 0 || size >= item.bound;
    next.length = 0;
    let isInlined = node > 0 && inlined ? 1 : 0;
    for (let i = from; i < to; i++) {
      const stack = order[i];
      const end = ends[stack];
      if (node > 0) {
        if (inlined) isInlined &= inlined[at[stack]];
        at[stack] = parent[at[stack]];
      }
      if (at[stack] <= 0) {
        nodes.self[node] += weights[end];
        if (before) nodes.selfBefore[node] += before[end];
      } else if (!follow) {
        nodes.cutNodes[node]++;
        nodes.cut[node] += weights[end];
        if (before) nodes.cutBefore[node] += before[end];
      } else {
        const name = nameOf[at[stack]];
        if (count[name]++ === 0) next.push(name);
        sum[name] += weights[end];
        if (before) sumBefore[name] += before[end];
      }
    }
    nodes.inlined[node] = isInlined;
    if (next.length === 0) continue;
    // The last is looked at first.
    if (next.length > 1) next.sort((a, b) => rank[b] - rank[a]);
    let begin = from;
    for (const name of next) {
      const stacks = count[name];
      const left = paths.length > 0 ? below(paths, labels.step(name)) : noPaths;
      work.push({ parent: node, name, from: begin, to: begin + stacks, size: sizeOf(name), bound, paths: left });
      count[name] = begin;
      begin += stacks;
      sum[name] = 0;
      sumBefore[name] = 0;
    }
    if (next.length > 1 || begin < to) {
      for (let i = from; i < to; i++) {
        const frame = at[order[i]];
        if (frame > 0) sorted[count[nameOf[frame]]++] = order[i];
      }
      order.set(sorted.subarray(from, begin), from);
    }
    for (const name of next) count[name] = 0;
  }
  return nodes;
}

// From the functions that ran up to those that called them. What was cut has no leaf: it stays at the root.
export function invert(tree: Tree, extent = everything): Tree {
  const { after, before } = tree;
  const ends: number[] = [];
  for (let i = 1; i < tree.count; i++) if (after.self[i] !== 0 || (before && before.self[i] !== 0)) ends.push(i);
  const nodes = turnAround(tree, tree.name[0], Uint32Array.from(ends), 'self', extent);
  nodes.self[0] += after.self[0];
  if (before) nodes.selfBefore[0] += before.self[0];
  for (let i = 0; i < tree.count; i++) {
    nodes.cut[0] += after.cut[i];
    nodes.cutNodes[0] += tree.cutNodes[i];
    if (before) nodes.cutBefore[0] += before.cut[i];
  }
  return nodes.finish();
}

// The callers of `calls`, which are nodes of one function that do not hold each other, with the function as the root.
export function callersOfNodes(tree: Tree, calls: readonly number[], extent = everything): Tree {
  return turnAround(tree, tree.name[calls[0]], Uint32Array.from(calls), 'total', extent).finish();
}
