// Moving through the tree by keyboard: to the parent, the widest child, or a neighbour on the same level.
import type { Graph } from './job';
import { firstInView } from './view';

export type Way = 'parent' | 'child' | 'next' | 'previous';

export function widestChild(graph: Graph, node: number): number {
  const { tree, layout } = graph;
  let best = -1;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (layout.bars.width[child] > 0 && (best < 0 || layout.bars.width[child] > layout.bars.width[best])) best = child;
  }
  return best;
}

// The node itself where there is nowhere to go. Neighbours are of the same parent first, then of the whole level.
export function step(graph: Graph, node: number, way: Way): number {
  const { tree, layout } = graph;
  if (way === 'parent') return Math.max(0, tree.parent[node]);
  if (way === 'child') {
    const child = widestChild(graph, node);
    return child < 0 ? node : child;
  }
  const { ids, starts, x } = layout.bars;
  const depth = layout.depth[node];
  const at = firstInView(layout.bars, depth, x[node]);
  const to = at + (way === 'next' ? 1 : -1);
  return to >= starts[depth] && to < starts[depth + 1] ? ids[to] : node;
}

export interface Around {
  parent: number; // -1 at the root
  siblings: number[]; // with the node itself, and its place among all
  first: number; // place of the first of them, from 0
  siblingCount: number;
  children: number[];
  childCount: number;
}

const shownSiblings = 11;
const shownChildren = 20;

// What a screen reader gets to know around a node.
export function around(graph: Graph, node: number): Around {
  const { tree, layout } = graph;
  const shown = (parent: number) => {
    const list: number[] = [];
    for (let child = parent + 1; child < tree.end[parent]; child = tree.end[child]) {
      if (layout.bars.width[child] > 0) list.push(child);
    }
    return list;
  };
  const parent = tree.parent[node];
  const siblings = parent < 0 ? [node] : shown(parent);
  const at = Math.max(0, siblings.indexOf(node));
  const first = Math.max(0, Math.min(at - (shownSiblings >> 1), siblings.length - shownSiblings));
  const children = shown(node);
  return {
    parent,
    siblings: siblings.slice(first, first + shownSiblings),
    first,
    siblingCount: siblings.length,
    children: children.slice(0, shownChildren),
    childCount: children.length,
  };
}
