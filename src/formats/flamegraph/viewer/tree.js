// A call tree in typed arrays, nodes ordered level by level and, within a level, from left to right.
// So a level is a slice that binary search can enter, and the children of a node stand together.

class Tree {
  constructor(count, hasBefore) {
    this.count = count;
    this.hasBefore = hasBefore;
    this.frame = new Int32Array(count);
    this.inlined = new Uint8Array(count);
    this.parent = new Int32Array(count);
    this.depth = new Int32Array(count);
    this.firstChild = new Int32Array(count);
    this.childCount = new Int32Array(count);
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    this.selfBefore = hasBefore ? new Float64Array(count) : null;
    this.totalBefore = hasBefore ? new Float64Array(count) : null;
    this.start = new Float64Array(count);
    this.extent = new Float64Array(count);
    this.levels = [0]; // levels[d] is the first node of depth d; one past the last level at the end
    this.unexpanded = new Uint8Array(count); // callers not followed because the node is narrow
  }

  get maxDepth() { return this.levels.length - 2; }

  // Fills in what follows from frame, parent and self: children, totals, levels and places.
  finish() {
    const { count, parent, total, totalBefore, extent, start } = this;
    this.firstChild.fill(-1);
    for (let i = 1; i < count; i++) {
      const p = parent[i];
      if (this.childCount[p]++ === 0) this.firstChild[p] = i;
      this.depth[i] = this.depth[p] + 1;
      if (this.depth[i] >= this.levels.length) this.levels.push(i);
    }
    this.levels.push(count);
    total.set(this.self);
    if (this.hasBefore) totalBefore.set(this.selfBefore);
    for (let i = count - 1; i > 0; i--) {
      total[parent[i]] += total[i];
      if (this.hasBefore) totalBefore[parent[i]] += totalBefore[i];
    }
    // As flame_layout.cc: wide enough for both sides of a difference and for the children.
    for (let i = count - 1; i >= 0; i--) {
      const before = this.hasBefore ? Math.abs(totalBefore[i]) : 0;
      extent[i] = Math.max(extent[i], Math.abs(total[i]), before);
      if (i > 0) extent[parent[i]] += extent[i];
    }
    const next = Float64Array.from(start);
    for (let i = 1; i < count; i++) {
      const p = parent[i];
      start[i] = next[p];
      next[p] += extent[i];
      next[i] = start[i];
    }
    return this;
  }

  // The node of this depth that covers x, or the first one after it.
  findAt(depth, x) {
    let low = this.levels[depth];
    let high = this.levels[depth + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] + this.extent[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  childOf(node, accept) {
    for (let c = this.firstChild[node], n = this.childCount[node]; n > 0; c++, n--) {
      if (accept(this.frame[c])) return c;
    }
    return -1;
  }

  // All nodes of a frame.
  nodesOf(frame) {
    if (!this.byFrame) {
      this.byFrame = new Map();
      for (let i = 0; i < this.count; i++) {
        const nodes = this.byFrame.get(this.frame[i]);
        if (nodes) nodes.push(i);
        else this.byFrame.set(this.frame[i], [i]);
      }
    }
    return this.byFrame.get(frame) ?? [];
  }

  // Frames from below the root down to the node.
  pathTo(node) {
    const path = [];
    for (let i = node; i > 0; i = this.parent[i]) path.push(this.frame[i]);
    return path.reverse();
  }

  // Is the node `top` or below it?
  isWithin(node, top) {
    while (this.depth[node] > this.depth[top]) node = this.parent[node];
    return node === top;
  }
}

// Collects nodes level by level, then makes a Tree of them.
class TreeBuilder {
  constructor(hasBefore) {
    this.hasBefore = hasBefore;
    this.frame = [];
    this.inlined = [];
    this.parent = [];
    this.self = [];
    this.selfBefore = [];
    this.unexpanded = [];
  }

  add(frame, parent, inlined) {
    this.frame.push(frame);
    this.parent.push(parent);
    this.inlined.push(inlined);
    this.self.push(0);
    this.selfBefore.push(0);
    this.unexpanded.push(0);
    return this.frame.length - 1;
  }

  build() {
    const tree = new Tree(this.frame.length, this.hasBefore);
    for (const column of ['frame', 'parent', 'inlined', 'self', 'unexpanded']) tree[column].set(this[column]);
    if (this.hasBefore) tree.selfBefore.set(this.selfBefore);
    return tree.finish();
  }
}
