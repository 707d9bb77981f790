// Trees made of trees: recursion as one frame, children by weight, callers and callees of a function, only what a search
// finds; turning.ts has callee first. All keep the sum of all weights, apart from those that are asked to leave something out.
import { arrange, preorder, rankNames, TreeBuilder } from './builder';
import { Labels } from './labels';
import type { Tree } from './tree';
import { callersOfNodes, type Extent } from './turning';

export function nameRank(tree: Tree): Uint32Array {
  const labels = new Labels(tree);
  return rankNames(labels.count, (name) => labels.step(name));
}

// Frames that call themselves become one: what they call stands below the first.
export function collapseRecursion(tree: Tree): Tree {
  let found = false;
  for (let i = 1; i < tree.count && !found; i++) {
    found = tree.parent[i] > 0 && tree.name[i] === tree.name[tree.parent[i]];
  }
  if (!found) return tree;
  const builder = new TreeBuilder(tree);
  const made = new Uint32Array(tree.count);
  for (let i = 0; i < tree.count; i++) {
    const parent = tree.parent[i];
    if (i > 0) {
      const same = parent > 0 && tree.name[parent] === tree.name[i];
      made[i] = same ? made[parent] : builder.child(made[parent], tree.name[i], i);
    }
    builder.addSelf(made[i], i);
    builder.addCut(made[i], i);
  }
  return builder.finish(nameRank(tree));
}

// Largest children first; in a comparison by the larger of both sides, so that what vanished stands where it was.
export function orderByWeight(tree: Tree): Tree {
  const { after, before } = tree;
  const weight = before ? after.total.map((total, i) => Math.max(total, before.total[i])) : after.total;
  const order = preorder(tree.parent, (a, b) => weight[b] - weight[a] || a - b);
  return arrange(tree, order, {
    parent: tree.parent,
    name: tree.name,
    self: after.self,
    cut: after.cut,
    cutNodes: tree.cutNodes,
    selfBefore: before?.self ?? null,
    cutBefore: before?.cut ?? null,
    inlined: tree.inlined,
  });
}

// The function's callers as a tree with the function as its root, and what it calls. Each stack counts once: at the
// outermost call.
export function sandwich(tree: Tree, step: string, extent?: Extent): { callers: Tree; callees: Tree } | null {
  const labels = new Labels(tree);
  const wanted = new Uint8Array(labels.count);
  for (const name of labels.find(step)) wanted[name] = 1;
  const callees = new TreeBuilder(tree);
  const made = new Uint32Array(tree.count);
  const outermost: number[] = [];
  for (let i = 1; i < tree.count; ) {
    if (!wanted[tree.name[i]]) {
      i++;
      continue;
    }
    outermost.push(i);
    made[i] = 0;
    const end = tree.end[i];
    callees.addSelf(0, i);
    callees.addCut(0, i);
    for (i++; i < end; i++) {
      made[i] = callees.child(made[tree.parent[i]], tree.name[i], i);
      callees.addSelf(made[i], i);
      callees.addCut(made[i], i);
    }
  }
  if (outermost.length === 0) return null;
  callees.setRoot(tree.name[outermost[0]]);
  return { callers: callersOfNodes(tree, outermost, extent), callees: callees.finish(nameRank(tree)) };
}

// Only stacks with a frame whose name is wanted. What was cut below no such frame may hold one: the server, which saw it,
// was asked for matching stacks only, so it stays.
export function onlyMatching(tree: Tree, wanted: (step: string) => boolean): Tree {
  const labels = new Labels(tree);
  const matches = new Uint8Array(labels.count);
  for (let name = 0; name < labels.count; name++) matches[name] = wanted(labels.step(name)) ? 1 : 0;
  const within = new Uint8Array(tree.count); // in or below a match
  const keep = new Uint8Array(tree.count);
  keep[0] = 1;
  for (let i = 1; i < tree.count; i++) within[i] = within[tree.parent[i]] | matches[tree.name[i]];
  for (let i = tree.count - 1; i > 0; i--) {
    if (within[i] || tree.cutNodes[i] > 0) keep[i] = 1;
    if (keep[i]) keep[tree.parent[i]] = 1;
  }
  const builder = new TreeBuilder(tree);
  const made = new Uint32Array(tree.count);
  for (let i = 0; i < tree.count; i++) {
    if (!keep[i]) continue;
    if (i > 0) made[i] = builder.child(made[tree.parent[i]], tree.name[i], i);
    if (within[i]) builder.addSelf(made[i], i);
    builder.addCut(made[i], i);
  }
  return builder.finish(nameRank(tree));
}
