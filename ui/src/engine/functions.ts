// The functions of a tree with what they weigh, as the server's tables have them.
import type { DiffRow, FrameName, TopRow } from '../api/types';
import { kindNames } from '../text/names';
import { Labels } from './labels';
import type { Side, Tree } from './tree';

interface Sums {
  self: Float64Array;
  total: Float64Array; // a function counts once for each stack, however often it calls itself
}

function sumsOf(tree: Tree, side: Side): Sums {
  const count = tree.names.text.length;
  const self = new Float64Array(count);
  const total = new Float64Array(count);
  const open = new Int32Array(count); // where the outermost call of a name ends
  for (let i = 1; i < tree.count; i++) {
    const name = tree.name[i];
    self[name] += side.self[i];
    if (i < open[name]) continue;
    total[name] += side.total[i];
    open[name] = tree.end[i];
  }
  return { self, total };
}

// By name: how many functions call it directly.
function callersOf(tree: Tree): Uint32Array {
  const seen = new Set<number>();
  const callers = new Uint32Array(tree.names.text.length);
  for (let i = 1; i < tree.count; i++) {
    const above = tree.parent[i];
    if (above === 0) continue;
    const key = tree.name[above] * callers.length + tree.name[i];
    if (seen.has(key)) continue;
    seen.add(key);
    callers[tree.name[i]]++;
  }
  return callers;
}

function namesOf(tree: Tree): { number: number; frame: FrameName }[] {
  const labels = new Labels(tree);
  const used = new Uint8Array(labels.count);
  for (let i = 1; i < tree.count; i++) used[tree.name[i]] = 1;
  const list: { number: number; frame: FrameName }[] = [];
  for (let number = 0; number < labels.count; number++) {
    if (!used[number]) continue;
    const kind = kindNames[tree.names.kind[number]] ?? '';
    list.push({
      number,
      frame: {
        name: labels.step(number),
        file: labels.file(number),
        line: tree.names.line[number],
        binary: labels.binary(number),
        kind: kind === 'unknown' ? '' : kind,
      },
    });
  }
  return list;
}

export function topRows(tree: Tree): TopRow[] {
  const { self, total } = sumsOf(tree, tree.after);
  const callers = callersOf(tree);
  return namesOf(tree).map(({ number, frame }) => ({
    ...frame,
    flat: self[number],
    cum: total[number],
    callers: callers[number],
  }));
}

// Whether a change is more than chance needs the samples, which a tree has not.
export function diffRows(tree: Tree): DiffRow[] {
  const after = sumsOf(tree, tree.after);
  const before = tree.before ? sumsOf(tree, tree.before) : after;
  return namesOf(tree).map(({ number, frame }) => ({
    ...frame,
    flat_before: before.self[number],
    flat_after: after.self[number],
    flat_delta: after.self[number] - before.self[number],
    cum_before: before.total[number],
    cum_after: after.total[number],
    cum_delta: after.total[number] - before.total[number],
  }));
}
