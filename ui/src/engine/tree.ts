// The flame graph's tree: nodes in pre-order, one typed array for each of their properties. Made of columns in the worker
// and moved to the page as it is; transforms make new trees of old ones.
import type { Columns, FlameHeader, NameTable, StringTable } from './columns';

// Of one side of a comparison; without a comparison there is only one.
export interface Side {
  self: Float64Array;
  cut: Float64Array; // what did not fit the budget below the node, at any depth
  total: Float64Array; // self + cut + totals of the children
}

export interface Tree {
  header: FlameHeader;
  strings: StringTable;
  names: NameTable;
  count: number;
  parent: Int32Array; // -1 for the root
  end: Uint32Array; // one after the last node below; that of a child is its next sibling, if there is one
  name: Uint32Array;
  cutNodes: Uint32Array;
  after: Side;
  before: Side | null;
  inlined: Uint8Array | null;
}

function sumUp(parent: Int32Array, self: Float64Array, cut: Float64Array): Float64Array {
  const total = new Float64Array(self.length);
  for (let i = self.length - 1; i >= 0; i--) {
    total[i] += self[i] + cut[i];
    if (i > 0) total[parent[i]] += total[i];
  }
  return total;
}

function subtreeEnds(parent: Int32Array): Uint32Array {
  const end = new Uint32Array(parent.length);
  for (let i = parent.length - 1; i >= 0; i--) {
    if (end[i] === 0) end[i] = i + 1;
    if (i > 0 && end[parent[i]] < end[i]) end[parent[i]] = end[i];
  }
  return end;
}

export function treeOf(columns: Columns): Tree {
  const { header, strings, names, count, parent, name, cutNodes, after, before, inlined } = columns;
  return {
    header,
    strings,
    names,
    count,
    parent,
    end: subtreeEnds(parent),
    name,
    cutNodes,
    after: { ...after, total: sumUp(parent, after.self, after.cut) },
    before: before && { ...before, total: sumUp(parent, before.self, before.cut) },
    inlined,
  };
}

// Children from the first to the last.
export function* childrenOf(tree: Tree, node: number): Generator<number> {
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) yield child;
}

// From below the root to the node.
export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]) path.push(at);
  return path.reverse();
}

// Everything that was cut in and below a node.
export function cutBelow(tree: Tree, node: number): { nodes: number; weight: number } {
  let nodes = 0;
  let weight = 0;
  for (let i = node; i < tree.end[node]; i++) {
    nodes += tree.cutNodes[i];
    weight += tree.after.cut[i];
  }
  return { nodes, weight };
}

// The buffers that can move to another thread instead of being copied.
export function buffersOf(tree: Tree): ArrayBufferLike[] {
  const { strings, names, after, before } = tree;
  const arrays = [
    strings.bytes,
    strings.ends,
    ...Object.values(names),
    tree.parent,
    tree.end,
    tree.name,
    tree.cutNodes,
    ...Object.values(after),
    ...(before ? Object.values(before) : []),
    ...(tree.inlined ? [tree.inlined] : []),
  ];
  return [...new Set(arrays.map((array) => array.buffer))];
}
