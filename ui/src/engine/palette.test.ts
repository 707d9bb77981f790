import { describe, expect, it } from 'vitest';
import { changeStep, coloringOf, spreadBuckets } from './coloring';
import { decodeColumns } from './columns';
import { Labels } from './labels';
import { bucketCount, categoryCount, changesAt, contrast, palettes, rgbOf } from './palette';
import { encodeColumns } from './testing/encode';
import { graphOf } from './testing/scenes';
import { treeOf } from './tree';

describe.each(['light', 'dark'] as const)('the %s palette', (theme) => {
  const palette = palettes[theme];
  it('has text that can be read on every colour', () => {
    expect(palette.fills).toHaveLength(bucketCount);
    for (const fill of palette.fills) expect(contrast(rgbOf(fill), rgbOf(palette.ink))).toBeGreaterThanOrEqual(4.5);
    for (const fill of palette.faded)
      expect(contrast(rgbOf(fill), rgbOf(palette.fadedInk))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(rgbOf(palette.match.fill), rgbOf(palette.match.ink))).toBeGreaterThanOrEqual(4.5);
  });
  it('has marks that stand out from the ground', () => {
    for (const mark of [palette.line, palette.focus, palette.hover, palette.less]) {
      expect(contrast(rgbOf(mark), rgbOf(palette.ground))).toBeGreaterThanOrEqual(3);
    }
  });
  it('has no two colours alike among the categories', () => {
    expect(new Set(palette.fills.slice(0, categoryCount)).size).toBe(categoryCount);
  });
  it('shows more as red and less as blue', () => {
    const [red, , blue] = rgbOf(palette.fills[changesAt + 8]);
    expect(red).toBeGreaterThan(blue);
    const [lessRed, , lessBlue] = rgbOf(palette.fills[changesAt]);
    expect(lessBlue).toBeGreaterThan(lessRed);
  });
});

describe('colours of changes', () => {
  it('grow with the change, alike in both directions', () => {
    expect([1, 1.01, 1.05, 1.2, 1.5, 2, 100].map((after) => changeStep(1, after))).toEqual([0, 0, 1, 2, 3, 4, 4]);
    for (const after of [1.05, 1.2, 1.5, 2, 7]) expect(changeStep(after, 1)).toBe(-changeStep(1, after));
    expect([changeStep(0, 1), changeStep(1, 0), changeStep(0, 0)]).toEqual([4, -4, 0]);
  });
  it('have a legend whose weights are all of the graph', () => {
    const { tree } = graphOf({ nodes: 600, baseline: true, seed: 2 });
    const coloring = coloringOf('binary', tree, new Labels(tree));
    expect(coloring.legend.reduce((sum, entry) => sum + entry.weight, 0)).toBe(tree.after.total[0]);
  });
});

describe('colours of categories', () => {
  it('are told apart as long as there are colours, and stay when others come', () => {
    const keys = Array.from({ length: categoryCount }, (_, i) => `lib${i}.so`);
    expect(new Set(spreadBuckets(keys).values()).size).toBe(categoryCount);
    expect(spreadBuckets(keys.slice(0, 3)).get(keys[0])).toBe(spreadBuckets(keys).get(keys[0]));
  });
  it('go by package where one binary has nearly everything', () => {
    const { tree } = graphOf({ nodes: 600, seed: 2 });
    expect(coloringOf('auto', tree, new Labels(tree)).by).toBe('binary');
    tree.names.binary.fill(tree.names.binary[1]);
    expect(coloringOf('auto', tree, new Labels(tree)).by).toBe('package');
  });
  it.each(['binary', 'kind', 'package', 'file'] as const)('by %s have a legend for every colour that is used', (by) => {
    const { tree } = graphOf({ nodes: 600, seed: 2 });
    const coloring = coloringOf(by, tree, new Labels(tree));
    const known = new Set(coloring.legend.map(({ key }) => key));
    expect(coloring.legend.length).toBeGreaterThan(0);
    if (coloring.rest === 0)
      for (let i = 1; i < tree.count; i++) if (tree.after.self[i] > 0) expect(known.has(coloring.key(i))).toBe(true);
  });
});

describe('colours of states', () => {
  const colored = (rows: [parent: number, name: string, self: number][]) => {
    const names = rows.map(([, name]) => ({ name }));
    const nodes = rows.map(([parent, , self], name) => ({ parent, name, self }));
    const tree = treeOf(decodeColumns(encodeColumns({}, names, nodes)));
    return coloringOf('state', tree, new Labels(tree));
  };
  it('are those of what most of a bar runs or waits for', () => {
    const coloring = colored([
      [-1, '', 0],
      [0, 'main', 0],
      [1, 'compute', 30],
      [1, 'load', 5],
      [3, 'read', 0],
      [4, '[disk]', 60],
      [0, '[idle]', 0],
      [6, 'worker', 0],
      [7, '[run queue]', 1],
    ]);
    const keys = [1, 2, 3, 4, 5, 6, 8].map((node) => coloring.key(node));
    expect(keys).toEqual(['disk', 'running', 'disk', 'disk', 'disk', 'run queue', 'run queue']);
    expect(coloring.legend.map(({ key, weight }) => [key, weight])).toEqual([
      ['disk', 60],
      ['running', 35],
      ['run queue', 1],
    ]);
    expect(new Set(coloring.legend.map(({ bucket }) => bucket)).size).toBe(3);
    expect(coloring.bucket(5)).toBe(coloring.legend[0].bucket);
  });
  it('are those of the frame above in an inverted graph', () => {
    const coloring = colored([
      [-1, '', 0],
      [0, '[disk]', 0],
      [1, 'read', 0],
      [2, 'load', 60],
      [0, 'compute', 30],
    ]);
    expect([1, 2, 3, 4].map((node) => coloring.key(node))).toEqual(['disk', 'disk', 'disk', 'running']);
  });
});
