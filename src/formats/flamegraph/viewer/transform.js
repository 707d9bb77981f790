// Trees made from the tree of the file. Pure functions; each keeps the sum of the weights.

// Wider than this share of what is looked at, callers are followed; the rest waits for a zoom, so
// that inverting a large profile does not build every path of it.
const EXPAND_SHARE = 1 / 20000;

// Orders of siblings: larger first, names decide between equals; or names alone.
function bySize(frames) {
  return (a, b) => Math.max(b.weight, b.before) - Math.max(a.weight, a.before) || byName(frames)(a, b);
}

function byName(frames) {
  return (a, b) => (frames.name[a.frame] < frames.name[b.frame] ? -1 : 1);
}

// The order in which the tree of the file was written, so that collapsing recursion does not shuffle it.
function orderOf(tree, frames) {
  let againstSize = 0;
  let againstName = 0;
  for (let i = 2; i < tree.count; i++) {
    if (tree.parent[i] !== tree.parent[i - 1]) continue;
    if (tree.extent[i] > tree.extent[i - 1]) againstSize++;
    if (frames.name[tree.frame[i]] < frames.name[tree.frame[i - 1]]) againstName++;
  }
  return againstName < againstSize ? byName(frames) : bySize(frames);
}

// Merges the subtrees under `sources` into one. With `collapse`, a function that calls itself
// directly is one box. REQUIRES: no source is below another.
function mergeDown(tree, frames, sources, rootFrame, collapse, compare = bySize(frames)) {
  const builder = new TreeBuilder(tree.hasBefore);
  builder.add(rootFrame, 0, 0);
  const membersOf = [[...sources]];
  for (let at = 0; at < builder.frame.length; at++) {
    const members = membersOf[at];
    membersOf[at] = null;
    const groups = new Map();
    for (let k = 0; k < members.length; k++) { // grows while recursion is taken in
      const node = members[k];
      builder.self[at] += tree.self[node];
      if (tree.hasBefore) builder.selfBefore[at] += tree.selfBefore[node];
      for (let c = tree.firstChild[node], n = tree.childCount[node]; n > 0; c++, n--) {
        const frame = tree.frame[c];
        if (collapse && frame === builder.frame[at] && frame !== 0) {
          members.push(c);
          continue;
        }
        let group = groups.get(frame);
        if (!group) groups.set(frame, group = { frame, weight: 0, before: 0, inlined: 1, members: [] });
        group.members.push(c);
        group.weight += tree.total[c];
        if (tree.hasBefore) group.before += tree.totalBefore[c];
        group.inlined &= tree.inlined[c];
      }
    }
    for (const group of [...groups.values()].sort(compare)) {
      builder.add(group.frame, at, group.inlined);
      membersOf.push(group.members);
    }
  }
  return builder.build();
}

// Turns stacks around. `ends` are the nodes where they start to be read, towards the root; weightOf
// and beforeOf give their weights. `focus` is a path of frames that is to be followed in full detail.
function turnAround(tree, frames, { ends, weightOf, beforeOf, rootFrame, fromParent, focus }) {
  const builder = new TreeBuilder(tree.hasBefore);
  const compare = bySize(frames);
  const cursor = Int32Array.from(ends, (node) => (fromParent ? tree.parent[node] : node));
  const sum = (entries, of) => entries.reduce((total, e) => total + of(ends[e]), 0);
  const all = [...ends.keys()];
  const wholeWeight = Math.max(Math.abs(sum(all, weightOf)), Math.abs(sum(all, beforeOf)));
  builder.add(rootFrame, 0, 0);
  const work = [{ entries: all, weight: wholeWeight, before: 0, onPath: 0, bound: wholeWeight * EXPAND_SHARE }];
  for (let at = 0; at < builder.frame.length; at++) {
    const { entries, weight, before, onPath, bound } = work[at];
    work[at] = null;
    const size = Math.max(Math.abs(weight), Math.abs(before));
    const expand = onPath >= 0 || size >= bound;
    const groups = new Map();
    for (const e of entries) {
      if (!expand || cursor[e] === 0) {
        builder.self[at] += weightOf(ends[e]);
        builder.selfBefore[at] += beforeOf(ends[e]);
        if (cursor[e] !== 0) builder.unexpanded[at] = 1;
        continue;
      }
      const frame = tree.frame[cursor[e]];
      let group = groups.get(frame);
      if (!group) groups.set(frame, group = { frame, weight: 0, before: 0, inlined: 1, entries: [] });
      group.entries.push(e);
      group.weight += weightOf(ends[e]);
      group.before += beforeOf(ends[e]);
      group.inlined &= tree.inlined[cursor[e]];
      cursor[e] = tree.parent[cursor[e]];
    }
    for (const group of [...groups.values()].sort(compare)) {
      builder.add(group.frame, at, group.inlined);
      const stays = onPath >= 0 && onPath < focus.length && focus[onPath] === group.frame;
      const arrives = stays && onPath + 1 === focus.length;
      const groupSize = Math.max(Math.abs(group.weight), Math.abs(group.before));
      work.push({ ...group, onPath: stays && !arrives ? onPath + 1 : -1,
        bound: arrives ? groupSize * EXPAND_SHARE : bound });
    }
  }
  return builder.build();
}

// Functions that ran first, their callers beyond them.
function invert(tree, frames, focus) {
  const ends = [];
  for (let i = 0; i < tree.count; i++) {
    if (tree.self[i] !== 0 || (tree.hasBefore && tree.selfBefore[i] !== 0)) ends.push(i);
  }
  return turnAround(tree, frames, {
    ends, focus, rootFrame: 0, fromParent: false,
    weightOf: (node) => tree.self[node],
    beforeOf: (node) => (tree.hasBefore ? tree.selfBefore[node] : 0),
  });
}

// Who calls `frame`, with the weight of what it does and calls.
function callersOf(tree, frames, frame, focus) {
  return turnAround(tree, frames, {
    ends: outermost(tree, (f) => f === frame), focus, rootFrame: frame, fromParent: true,
    weightOf: (node) => tree.total[node],
    beforeOf: (node) => (tree.hasBefore ? tree.totalBefore[node] : 0),
  });
}

function calleesOf(tree, frames, frame, collapse) {
  return mergeDown(tree, frames, outermost(tree, (f) => f === frame), frame, collapse);
}

// Accepted nodes that are not below another accepted one: their totals add up without counting twice.
function outermost(tree, accepts) {
  const covered = new Uint8Array(tree.count);
  const nodes = [];
  for (let i = 1; i < tree.count; i++) {
    const above = covered[tree.parent[i]] === 1;
    const accepted = accepts(tree.frame[i]);
    if (accepted && !above) nodes.push(i);
    if (accepted || above) covered[i] = 1;
  }
  return nodes;
}
