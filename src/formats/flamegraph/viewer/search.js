// Which frames a query means, and how much of the profile they are.

class Search {
  constructor(frames) {
    this.frames = frames;
    this.clear();
  }

  clear() {
    this.query = '';
    this.error = '';
    this.active = false;
    this.hits = new Uint8Array(this.frames.name.length);
    this.hitCount = 0;
  }

  set(query) {
    this.clear();
    this.query = query;
    const { test, error } = parseQuery(query);
    this.error = error;
    if (test === null) return;
    this.active = true;
    this.frames.name.forEach((name, frame) => {
      if (frame !== 0 && test(name)) {
        this.hits[frame] = 1;
        this.hitCount++;
      }
    });
  }

  // The union of the matched frames in the whole profile: one inside another counts once.
  weigh(tree) {
    let after = 0;
    let before = 0;
    for (const node of outermost(tree, (frame) => this.hits[frame] === 1)) {
      after += tree.total[node];
      if (tree.hasBefore) before += tree.totalBefore[node];
    }
    return { after, before };
  }

  // Matched nodes, level by level.
  nodesIn(tree) {
    const nodes = [];
    for (let i = 1; i < tree.count; i++) if (this.hits[tree.frame[i]] === 1) nodes.push(i);
    return nodes;
  }
}
