import { describe, expect, it } from 'vitest';
import type { Step } from '../state/state';
import { decodeColumns } from './columns';
import { diffRows, topRows } from './functions';
import { Labels } from './labels';
import { applySteps, expressionOf, regroup } from './steps';
import { encodeColumns } from './testing/encode';
import { syntheticColumns } from './testing/synthetic';
import { pathOf, type Tree, treeOf } from './tree';

const names = [
  { name: '' },
  { name: 'main', file: 'main.cc', binary: '/bin/app' },
  { name: 'work', file: 'work.cc', binary: '/bin/app' },
  { name: 'malloc', binary: '/lib/libc.so.6' },
];
// main 1, main;work 2, main;work;malloc 4, main;malloc 8, malloc 16, main;work;main 32
const tree = treeOf(
  decodeColumns(
    encodeColumns({}, names, [
      { parent: -1, name: 0, self: 0 },
      { parent: 0, name: 1, self: 1 },
      { parent: 1, name: 2, self: 2 },
      { parent: 2, name: 3, self: 4 },
      { parent: 2, name: 1, self: 32 },
      { parent: 1, name: 3, self: 8 },
      { parent: 0, name: 3, self: 16 },
    ]),
  ),
);

function stacksOf(one: Tree): string[] {
  const labels = new Labels(one);
  const out: string[] = [];
  for (let i = 0; i < one.count; i++) {
    const path = pathOf(one, i).map((node) => labels.step(one.name[node]));
    if (one.after.self[i] !== 0) out.push(`${path.join(';')} ${one.after.self[i]}`);
  }
  return out.sort();
}
const after = (...steps: Step[]) => stacksOf(applySteps(tree, steps));

describe('steps', () => {
  it('keep and drop whole stacks', () => {
    expect(after({ kind: 'focus', pattern: '^work$' })).toEqual([
      'main;work 2',
      'main;work;main 32',
      'main;work;malloc 4',
    ]);
    expect(after({ kind: 'focus', pattern: '^work$' }, { kind: 'focus', pattern: 'malloc' })).toEqual([
      'main;work;malloc 4',
    ]);
    expect(after({ kind: 'ignore', pattern: '^(work|main)$' })).toEqual(['malloc 16']);
  });

  it('take frames away, and with the last one the stack', () => {
    expect(after({ kind: 'hide', pattern: 'libc' })).toEqual(['main 9', 'main;work 6', 'main;work;main 32']);
    expect(after({ kind: 'show', pattern: 'libc' })).toEqual(['malloc 28']);
  });

  it('start stacks at the outermost match', () => {
    expect(after({ kind: 'show_from', pattern: 'work' })).toEqual(['work 2', 'work;main 32', 'work;malloc 4']);
    expect(after({ kind: 'show_from', pattern: 'work' }, { kind: 'show_from', pattern: '^main$' })).toEqual([
      'main 32',
    ]);
  });

  it('look at function, file and binary, and find nothing by a broken expression', () => {
    expect(after({ kind: 'focus', pattern: 'work\\.cc' })).toEqual(after({ kind: 'focus', pattern: '^work$' }));
    expect(after({ kind: 'focus', pattern: '(' })).toEqual([]);
    expect(after({ kind: 'ignore', pattern: '(' })).toEqual(stacksOf(tree));
    expect(expressionOf('(?i)MAIN').test('main')).toBe(true);
  });

  it('are no work where there are none', () => {
    expect(applySteps(tree, [])).toBe(tree);
  });
});

describe('groups', () => {
  it('put functions of one binary or file together and keep the sum', () => {
    const binaries = regroup(tree, 'binary');
    expect(stacksOf(binaries)).toContain('app;libc.so.6 8');
    expect(stacksOf(regroup(tree, 'file'))).toContain('main.cc;work.cc 2');
    for (const group of ['file', 'binary'] as const) expect(regroup(tree, group).after.total[0]).toBe(63);
    expect(regroup(tree, 'function')).toBe(tree);
  });
});

describe('functions', () => {
  it('count a stack once, however often they are on it', () => {
    const rows = Object.fromEntries(topRows(tree).map((row) => [row.name, [row.flat, row.cum, row.callers]]));
    expect(rows).toEqual({ main: [33, 47, 1], work: [2, 38, 1], malloc: [28, 28, 2] });
  });

  it('have both sides in a comparison, and the sums of the tree', () => {
    const compared = treeOf(decodeColumns(syntheticColumns({ nodes: 2000, seed: 3, baseline: true })));
    const rows = diffRows(compared);
    const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
    expect(sum((row) => row.flat_after)).toBeCloseTo(compared.after.total[0] - compared.after.self[0], 0);
    expect(sum((row) => row.flat_before)).toBeCloseTo(compared.before!.total[0] - compared.before!.self[0], 0);
    expect(
      rows.every((row) => row.cum_after >= row.flat_after && row.cum_delta === row.cum_after - row.cum_before),
    ).toBe(true);
  });
});
