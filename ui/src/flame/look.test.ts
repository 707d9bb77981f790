import { describe, expect, it } from 'vitest';
import { build } from '../engine/job';
import { Labels } from '../engine/labels';
import { encodeColumns } from '../engine/testing/encode';
import { plainJob } from '../engine/testing/scenes';
import { doubtsOf } from './look';

const names = [{ name: '' }, { name: 'main' }, { name: 'new' }, { name: 'chance' }];
const nodes = [
  { parent: -1, name: 0, self: 0, selfBefore: 0 },
  { parent: 0, name: 1, self: 5, selfBefore: 5 },
  { parent: 1, name: 2, self: 9, selfBefore: 0 },
  { parent: 1, name: 3, self: 4, selfBefore: 3 },
];
function doubts(baseline: boolean, significant: Set<string> | null) {
  const graph = build(encodeColumns({ baseline }, names, nodes), [], plainJob).main;
  return doubtsOf({ graph, labels: new Labels(graph.tree) }, significant);
}

describe('bars of a comparison', () => {
  it('are pale where the change may be chance, but for the root', () => {
    expect([...doubts(true, new Set(['new']))!]).toEqual([0, 1, 0, 1]);
  });
  it('are not where nothing is known of chance, or nothing is compared', () => {
    expect(doubts(true, null)).toBeNull();
    expect(doubts(false, new Set(['new']))).toBeNull();
  });
});
