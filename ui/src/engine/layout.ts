// Where bars stand: x and width in units of weight from the left end of the root, and for each level its bars from left to
// right, so that a window of it is found by halving. Screens, pixels and zoom are the business of view.ts.
import type { Tree } from './tree';

export interface Level {
  ids: Uint32Array; // of bars, sorted by x within a level
  starts: Uint32Array; // level d is ids[starts[d] .. starts[d + 1]]
  x: Float64Array; // by id
  width: Float64Array;
}

export interface Layout {
  bars: Level; // ids are nodes
  // What was cut, as bars one level below their node, to the right of its children. Ids count the cuts.
  cuts: Level & { node: Uint32Array };
  depth: Uint32Array; // by node
  levels: number;
  width: number; // of the root
}

// Weights can be negative in profiles that are differences: such bars have no width, and those above are as wide as what
// they hold.
function widths(tree: Tree): Float64Array {
  const { self, cut, total } = tree.after;
  let negative = false;
  for (let i = 0; i < tree.count && !negative; i++) negative = self[i] < 0 || cut[i] < 0;
  if (!negative) return total;
  const out = new Float64Array(tree.count);
  for (let i = tree.count - 1; i >= 0; i--) {
    out[i] += Math.max(0, self[i]) + Math.max(0, cut[i]);
    if (i > 0) out[tree.parent[i]] += out[i];
  }
  return out;
}

// Bars without width (gone since the baseline) are in no level.
function sortLevels(levels: number, level: Uint32Array, width: Float64Array) {
  const count = level.length;
  const starts = new Uint32Array(levels + 1);
  let shown = 0;
  for (let id = 0; id < count; id++) {
    if (width[id] > 0) {
      starts[level[id] + 1]++;
      shown++;
    }
  }
  for (let i = 0; i < levels; i++) starts[i + 1] += starts[i];
  const fill = starts.slice(0, levels);
  const ids = new Uint32Array(shown);
  for (let id = 0; id < count; id++) if (width[id] > 0) ids[fill[level[id]]++] = id;
  return { ids, starts };
}

export function layOut(tree: Tree): Layout {
  const { count, parent } = tree;
  const width = widths(tree);
  const x = new Float64Array(count);
  const next = new Float64Array(count); // where the next child begins
  const depth = new Uint32Array(count);
  let deepest = 0;
  const { cut } = tree.after;
  let cutCount = 0;
  if (cut[0] > 0) {
    cutCount = 1;
    deepest = 1;
  }
  for (let i = 1; i < count; i++) {
    const above = parent[i];
    x[i] = next[above];
    next[i] = x[i];
    next[above] += width[i];
    depth[i] = depth[above] + 1;
    if (depth[i] > deepest && width[i] > 0) deepest = depth[i];
    if (cut[i] > 0) {
      cutCount++;
      if (depth[i] + 1 > deepest) deepest = depth[i] + 1;
    }
  }
  const node = new Uint32Array(cutCount);
  const cutX = new Float64Array(cutCount);
  const cutWidth = new Float64Array(cutCount);
  for (let i = 0, at = 0; at < cutCount; i++) {
    if (cut[i] <= 0) continue;
    node[at] = i;
    cutX[at] = next[i];
    cutWidth[at] = cut[i];
    at++;
  }
  const levels = deepest + 1;
  const cutLevel = node.map((id) => depth[id] + 1);
  return {
    bars: { ...sortLevels(levels, depth, width), x, width },
    cuts: { ...sortLevels(levels, cutLevel, cutWidth), x: cutX, width: cutWidth, node },
    depth,
    levels,
    width: width[0],
  };
}

export function layoutBuffers(layout: Layout): ArrayBufferLike[] {
  const { bars, cuts, depth } = layout;
  const arrays = [
    bars.ids,
    bars.starts,
    bars.x,
    bars.width,
    cuts.ids,
    cuts.starts,
    cuts.x,
    cuts.width,
    cuts.node,
    depth,
  ];
  return arrays.map((array) => array.buffer);
}
