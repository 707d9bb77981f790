// What the worker does for the page: bytes of the server become a tree and its layout. A pure function of the job, so that
// tests run it without a worker.

import { matchOf } from '../text/match';
import { callersOf } from './callers';
import { decodeColumns } from './columns';
import { graft } from './graft';
import { type Layout, layOut, layoutBuffers } from './layout';
import { collapseRecursion, onlyMatching, orderByWeight, sandwich } from './transforms';
import { buffersOf, type Tree, treeOf } from './tree';
import { type Extent, invert } from './turning';

export interface Part {
  path: string[];
  bytes: Uint8Array;
}

export interface Job {
  recursion: boolean;
  byWeight: boolean;
  inverted: boolean; // here; otherwise the server has done it
  search: string; // only stacks that it finds; empty = all
  sandwich: string; // of the tree itself, where the server has no answer
  callers: string; // JSON of /api/v1/callers
  extent?: Extent; // of what is turned around here; everything, where it is not given
}

export interface Graph {
  tree: Tree;
  layout: Layout;
}
export interface Built {
  main: Graph;
  callers: Graph | null;
  callees: Graph | null;
}

export function build(base: Uint8Array, parts: readonly Part[], job: Job): Built {
  let tree = treeOf(decodeColumns(base));
  // Inner ones last: an outer one that came later would put back what they have opened.
  const inward = [...parts].sort((a, b) => a.path.length - b.path.length);
  for (const part of inward) tree = graft(tree, part.path, treeOf(decodeColumns(part.bytes)));
  return buildOf(tree, job);
}

export function buildOf(whole: Tree, job: Job): Built {
  let tree = whole;
  if (job.search) tree = onlyMatching(tree, matchOf(job.search).test);
  if (job.recursion) tree = collapseRecursion(tree);
  let sides: { callers: Tree; callees: Tree } | null = null;
  if (job.callers) sides = callersOf(tree, JSON.parse(job.callers));
  else if (job.sandwich) sides = sandwich(tree, job.sandwich, job.extent);
  if (job.inverted) tree = invert(tree, job.extent);
  const finish = (one: Tree): Graph => {
    let out = one;
    if (job.recursion) out = collapseRecursion(out);
    if (job.byWeight) out = orderByWeight(out);
    return { tree: out, layout: layOut(out) };
  };
  return {
    main: finish(tree),
    callers: sides && finish(sides.callers),
    callees: sides && finish(sides.callees),
  };
}

// Trees share strings and names, and a layout may share the totals: each buffer moves once.
export function builtBuffers(built: Built): ArrayBuffer[] {
  const graphs = [built.main, built.callers, built.callees].filter((graph) => graph !== null);
  return [
    ...new Set(graphs.flatMap(({ tree, layout }) => [...buffersOf(tree), ...layoutBuffers(layout)])),
  ] as ArrayBuffer[];
}
