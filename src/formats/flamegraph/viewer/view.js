// Which part of a tree stands where on the canvas: rows, the visible range of x, and what is at a point.

const ROW_HEIGHT = 20;

class Panel {
  // grow: 1 when children stand below their parent, -1 when above. baseRow: the row of the root.
  constructor(tree, grow, baseRow) {
    this.tree = tree;
    this.grow = grow;
    this.baseRow = baseRow;
    this.zoomNode = 0;
    this.from = 0;
    this.to = this.end;
  }

  get end() { return this.tree.extent[0] || 1; }
  rowOf(node) { return this.baseRow + this.grow * this.tree.depth[node]; }
  depthAt(row) { return (row - this.baseRow) * this.grow; }

  rangeOf(node) {
    const start = this.tree.start[node];
    return [start, start + (this.tree.extent[node] || this.end)];
  }

  // Keeps the range inside the tree and wide enough for double precision.
  setRange(from, to) {
    const size = Math.min(Math.max(to - from, this.end * 1e-9), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - size);
    this.to = this.from + size;
  }

  nodeAt(row, share) {
    const depth = this.depthAt(row);
    if (depth < 0 || depth > this.tree.maxDepth) return -1;
    const x = this.from + share * (this.to - this.from);
    const node = this.tree.findAt(depth, x);
    return node < this.tree.levels[depth + 1] && this.tree.start[node] <= x ? node : -1;
  }

  // In pixels of a canvas that is `width` wide.
  boxOf(node, width) {
    const scale = width / (this.to - this.from);
    const x = (this.tree.start[node] - this.from) * scale;
    return { x, width: this.tree.extent[node] * scale, y: this.rowOf(node) * ROW_HEIGHT };
  }
}

// One panel for a whole tree, two for a sandwich (callers above, callees below the function).
function makePanels(trees, icicle) {
  if (trees.length === 1) {
    return [icicle ? new Panel(trees[0], 1, 0) : new Panel(trees[0], -1, trees[0].maxDepth)];
  }
  const [callees, callers] = trees;
  return icicle ? [new Panel(callees, 1, callers.maxDepth), new Panel(callers, -1, callers.maxDepth)]
      : [new Panel(callees, -1, callees.maxDepth), new Panel(callers, 1, callees.maxDepth)];
}

function rowCount(panels) {
  return 1 + panels.reduce((sum, panel) => sum + panel.tree.maxDepth, 0);
}

// Frames that exist on one side of a difference only.
const changeAt = (tree, node) => (tree.hasBefore ? changeOf(tree.totalBefore[node], tree.total[node]) : '');

// As diff_step() of flame_colors.cc.
function diffStep(before, after, bounds) {
  if (before === after) return 0;
  const percent = before === 0 ? Infinity : Math.abs((after - before) / before) * 100;
  let step = 0;
  while (step < bounds.length && percent >= bounds[step]) step++;
  return after > before ? step : -step;
}
