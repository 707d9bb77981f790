import { describe, expect, it } from 'vitest';
import { goneNodes, infoOfNode, lostBelow, runText, spoken } from './info';
import { build } from './job';
import { Labels } from './labels';
import { encodeColumns } from './testing/encode';
import { plainJob } from './testing/scenes';

const bytes = encodeColumns(
  { baseline: true },
  [{ name: '' }, { name: 'main' }, { name: 'old\u202e', file: 'a.cc', line: 7, binary: '/bin/a' }, { name: 'new' }],
  [
    { parent: -1, name: 0, self: 0, selfBefore: 0 },
    { parent: 0, name: 1, self: 50, selfBefore: 40, cut: 10, cutNodes: 3, cutBefore: 10 },
    { parent: 1, name: 3, self: 40, selfBefore: 0 },
    { parent: 1, name: 2, self: 0, selfBefore: 50 },
    { parent: 3, name: 1, self: 0, selfBefore: 5 },
  ],
);
const graph = build(bytes, [], plainJob).main;
const labels = new Labels(graph.tree);

describe('what is said about a frame', () => {
  it('has shares of all and of the parent, and the change', () => {
    const { numbers } = infoOfNode(graph, labels, 2);
    expect(Object.fromEntries(numbers)).toMatchObject({
      total: '40 ns',
      'of all': '40.0 %',
      'of parent': '40.0 %',
      self: '40 ns',
      before: '0 ns',
      change: '+40 ns (new)',
    });
  });

  it('says rates of one instance, and shares, where a comparison is by them', () => {
    const { tree } = graph;
    const said = (header: object) =>
      Object.fromEntries(
        infoOfNode({ ...graph, tree: { ...tree, header: { ...tree.header, ...header } } }, labels, 2).numbers,
      );
    expect(said({ scale: 'rate', duration_ns: 160 })).toMatchObject({
      total: '0.25 cores',
      change: '+0.25 cores (new)',
    });
    expect(said({ scale: 'normalized' })).toMatchObject({ total: '40.0 %', change: '+40.0 pp (new)' });
  });

  it('shows names as they are, with nothing hidden in them', () => {
    expect(infoOfNode(graph, labels, 3)).toMatchObject({ title: 'old‹RLO›', place: 'a.cc:7', binary: '/bin/a' });
    expect(spoken(graph, labels, 3, true)).toBe('old‹RLO›, 0 ns, 0 %, gone against the baseline');
  });

  it('finds what only the baseline has, the uppermost frames alone', () => {
    expect(goneNodes(graph)).toEqual([3]);
    expect(lostBelow(graph, 1)).toBe(55);
  });

  it('counts what is too narrow or was cut', () => {
    const hit = { node: 1, depth: 2, left: 0, right: 1, weight: 0.4 };
    expect(runText(graph, { ...hit, kind: 'run', count: 37 }, true)).toBe('37 frames, 0.40 %; click to see them');
    expect(runText(graph, { ...hit, kind: 'cut', count: 1, weight: 10 }, false)).toBe(
      '1 node below the budget, 10.0 %',
    );
  });
});
