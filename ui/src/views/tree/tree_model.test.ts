import { describe, expect, it } from 'vitest';
import {
  type AnswerNode,
  budgetBelow,
  buildTree,
  findRow,
  graft,
  heavyPath,
  nodeAt,
  parentRow,
  visibleRows,
  withClosed,
  withOpen,
} from './tree_model';

// all(100) > main(90) > { work(60) > inner(50), idle(20) }, init(10); below idle 3 nodes were cut
const answer: AnswerNode[] = [
  { id: 0, parent: -1, name: '', total: 100, self: 0 },
  { id: 1, parent: 0, name: 'init', total: 10, self: 10 },
  { id: 2, parent: 0, name: 'main', total: 90, self: 10 },
  { id: 3, parent: 2, name: 'idle', total: 20, self: 5, cut: { nodes: 3, self: 15 } },
  { id: 4, parent: 2, name: 'work', total: 60, self: 10 },
  { id: 5, parent: 4, name: 'inner', total: 50, self: 50 },
];
const root = buildTree(answer)!;
const names = (open = new Map()) =>
  visibleRows(root, open).map((row) => `${row.level}${row.isCut ? '…' : row.node.name}`);

describe('the call tree', () => {
  it('shows the first level, heaviest first', () => {
    expect(names()).toEqual(['1main', '1init']);
  });
  it('shows what is open, in place', () => {
    expect(names(withOpen(new Map(), ['main', 'work']))).toEqual(['1main', '2work', '3inner', '2idle', '1init']);
  });
  it('closes with all below', () => {
    const open = withOpen(new Map(), ['main', 'work']);
    expect(names(withClosed(open, ['main']))).toEqual(['1main', '1init']);
    expect(names(open)).toHaveLength(5); // what was is not changed
  });
  it('has a row for what was cut', () => {
    const rows = visibleRows(root, withOpen(new Map(), ['main', 'idle']));
    const cut = rows.find((row) => row.isCut)!;
    expect([cut.node.name, cut.node.cutNodes, cut.path, cut.level]).toEqual(['idle', 3, ['main', 'idle'], 3]);
  });
  it('numbers siblings', () => {
    const rows = visibleRows(root, withOpen(new Map(), ['main']));
    expect(rows.map((row) => `${row.position}/${row.siblings}`)).toEqual(['1/2', '1/2', '2/2', '2/2']);
  });
  it('takes in what was asked for later', () => {
    const part = buildTree([
      { id: 0, parent: -1, name: 'idle', total: 20, self: 5 },
      { id: 1, parent: 0, name: 'nap', total: 15, self: 15 },
    ])!;
    const grown = graft(root, ['main', 'idle'], part);
    expect(nodeAt(grown, ['main', 'idle', 'nap'])?.total).toBe(15);
    expect(nodeAt(grown, ['main', 'idle'])?.cutNodes).toBe(0);
    expect(nodeAt(root, ['main', 'idle'])?.children).toEqual([]);
  });
  it('asks for more than it knows, within bounds', () => {
    expect(budgetBelow(nodeAt(root, ['main', 'idle'])!, 10, 1000)).toBe(10);
    expect(budgetBelow(root, 10, 1000)).toBe(24);
    expect(budgetBelow(root, 10, 20)).toBe(20);
  });
  it('finds the heavy path until it spreads', () => {
    expect(heavyPath(root, [])).toEqual(['main', 'work', 'inner']);
    expect(heavyPath(root, [], 0.7)).toEqual(['main']);
  });
  it('finds a row again where it is now', () => {
    const before = visibleRows(root, new Map());
    const after = visibleRows(root, withOpen(new Map(), ['main', 'work']));
    expect([findRow(before, before[1]), findRow(after, before[1])]).toEqual([1, 4]);
    expect(findRow(before, after[2])).toBe(-1);
    expect(findRow(before, null)).toBe(-1);
  });
  it('knows the row of a parent', () => {
    const rows = visibleRows(root, withOpen(new Map(), ['main', 'work']));
    expect(parentRow(rows, 2)).toBe(1);
    expect(parentRow(rows, 3)).toBe(0);
    expect(parentRow(rows, 0)).toBe(-1);
  });
});
