import { describe, expect, it } from 'vitest';
import { build } from './job';
import { encodeColumns } from './testing/encode';
import { graphOf, plainJob } from './testing/scenes';

describe('a layout', () => {
  const graph = graphOf({ nodes: 800, cut: true, seed: 5 });
  const { tree, layout } = graph;
  const { x, width } = layout.bars;

  it('has total = self + cut + totals of the children', () => {
    const sums = tree.after.self.map((self, i) => self + tree.after.cut[i]);
    for (let i = tree.count - 1; i > 0; i--) sums[tree.parent[i]] += sums[i];
    expect(tree.after.total).toEqual(sums);
    expect(tree.after.total[0]).toBe(tree.header.total);
  });

  it('keeps children inside their parents, side by side', () => {
    for (let i = 0; i < tree.count; i++) {
      let at = x[i];
      for (let child = i + 1; child < tree.end[i]; child = tree.end[child]) {
        expect(tree.parent[child]).toBe(i);
        expect(x[child]).toBe(at);
        at += width[child];
      }
      expect(at + tree.after.self[i] + tree.after.cut[i]).toBeCloseTo(x[i] + width[i], 0);
    }
  });

  it('sorts each level from left to right and has every bar once', () => {
    const { ids, starts } = layout.bars;
    const seen = new Set<number>();
    for (let depth = 0; depth < layout.levels; depth++) {
      for (let at = starts[depth]; at < starts[depth + 1]; at++) {
        expect(layout.depth[ids[at]]).toBe(depth);
        if (at > starts[depth]) expect(x[ids[at]]).toBeGreaterThanOrEqual(x[ids[at - 1]] + width[ids[at - 1]] - 1);
        seen.add(ids[at]);
      }
    }
    expect(seen.size).toBe(tree.after.total.filter((total) => total > 0).length);
  });

  it('puts what was cut between the children and the self weight', () => {
    const { cuts } = layout;
    expect(cuts.node.length).toBe(tree.after.cut.filter((cut) => cut > 0).length);
    cuts.node.forEach((node, i) => {
      expect(cuts.width[i]).toBe(tree.after.cut[node]);
      expect(cuts.x[i] + cuts.width[i] + tree.after.self[node]).toBeCloseTo(x[node] + width[node], 0);
    });
  });

  it('of negative weights has no bar outside of its parent', () => {
    const bytes = encodeColumns(
      {},
      [{ name: '' }, { name: 'a' }, { name: 'b' }],
      [
        { parent: -1, name: 0, self: 0 },
        { parent: 0, name: 1, self: -10 },
        { parent: 1, name: 2, self: 4 },
        { parent: 0, name: 2, self: 6 },
      ],
    );
    const { layout: odd, tree: oddTree } = build(bytes, [], plainJob).main;
    expect(oddTree.after.total[0]).toBe(0);
    expect([...odd.bars.width]).toEqual([10, 4, 4, 6]);
    expect([...odd.bars.x]).toEqual([0, 0, 0, 4]);
  });
});
