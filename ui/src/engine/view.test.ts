import { describe, expect, it } from 'vitest';
import { graphOf } from './testing/scenes';
import { between } from './transition';
import { clampView, pan, viewOfNode, wholeView, zoomAt } from './view';
import { around, step } from './walk';

const graph = graphOf({ nodes: 3000, seed: 8 });
const { layout, tree } = graph;
const screen = { width: 1000, height: 300, row: 20, flip: false };

describe('a view', () => {
  it('of a node shows it over the whole width, and in sight', () => {
    for (const node of [1, 50, 700, 2999]) {
      if (layout.bars.width[node] === 0) continue;
      const view = viewOfNode(layout, node, screen, wholeView(layout));
      expect(view.x).toBeCloseTo(layout.bars.x[node], 3);
      expect(view.width).toBe(layout.bars.width[node]);
      const y = layout.depth[node] * screen.row - view.top;
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThan(screen.height);
    }
  });

  it('keeps the point under the pointer when it zooms', () => {
    const from = wholeView(layout);
    const to = zoomAt(from, 0.5, 250, layout, screen);
    expect(to.x + 0.25 * to.width).toBeCloseTo(from.x + 0.25 * from.width, 3);
  });

  it('never leaves the graph', () => {
    const whole = wholeView(layout);
    expect(pan(whole, 500, 9999, layout, screen)).toEqual(whole);
    expect(zoomAt(whole, 50, 10, layout, screen)).toEqual(whole);
    const far = clampView({ x: layout.width * 2, width: layout.width / 10, top: 1e9 }, layout, screen);
    expect(far.x + far.width).toBeCloseTo(layout.width, 0);
    expect(far.top).toBe(Math.max(0, layout.levels * 20 - 300));
  });

  it('moves from one to another without leaving the way between them', () => {
    const from = wholeView(layout);
    const to = { x: layout.width / 2, width: layout.width / 1000, top: 100 };
    let last = from;
    for (let t = 0; t <= 1.001; t += 0.05) {
      const view = between(from, to, t);
      expect(view.width).toBeLessThanOrEqual(last.width * 1.000001);
      expect(view.x).toBeGreaterThanOrEqual(last.x - 1e-6 * layout.width);
      last = view;
    }
    expect(between(from, to, 1)).toEqual(to);
  });
});

describe('walking by keyboard', () => {
  it('goes down and comes back', () => {
    let node = 0;
    for (let i = 0; i < 5; i++) {
      const child = step(graph, node, 'child');
      if (child === node) break;
      expect(step(graph, child, 'parent')).toBe(node);
      node = child;
    }
    expect(node).toBeGreaterThan(0);
    expect(step(graph, 0, 'parent')).toBe(0);
  });

  it('goes to both sides of a level', () => {
    for (let node = 1; node < 400; node++) {
      if (layout.bars.width[node] === 0) continue;
      const next = step(graph, node, 'next');
      if (next !== node) expect(step(graph, next, 'previous')).toBe(node);
      expect(layout.depth[next]).toBe(layout.depth[node]);
    }
  });

  it('tells a screen reader the place among all siblings', () => {
    for (let node = 1; node < 400; node++) {
      if (layout.bars.width[node] === 0) continue;
      const near = around(graph, node);
      expect(near.siblings).toContain(node);
      expect(near.siblingCount).toBeGreaterThanOrEqual(near.siblings.length);
      expect(near.parent).toBe(tree.parent[node]);
    }
  });
});
