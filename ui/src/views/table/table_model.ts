// The rows of the table as columns of numbers to sort and filter by. Made once for an answer; the keys of a column are
// made when it is first sorted by.

import type { DiffRow, FrameName, TopRow } from '../../api/types';
import { allRows, filterRows, readSort, type Sort, sortRows, textKeys } from '../../parts/table/sort';
import type { ChangeFilter, GroupBy } from '../../state/state';
import { formatRelative } from '../../text/format';
import type { Match } from '../../text/match';
import type { Measure } from '../../text/measure';

type Key<Row> = ((row: Row) => number) | { text: (row: Row) => string };

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
// What a row is of, by how frames are told apart. The server names any function of a binary.
export function namedRows<Row extends FrameName>(rows: readonly Row[], group: GroupBy): readonly Row[] {
  return group === 'binary' ? rows.map((row) => ({ ...row, name: baseName(row.binary) || '(no binary)' })) : rows;
}
export const groupWords: Record<GroupBy, [title: string, many: string]> = {
  function: ['Function', 'functions'],
  line: ['Function, by line', 'lines'],
  file: ['File', 'files'],
  binary: ['Binary', 'binaries'],
};

export function placeOf(frame: FrameName): string {
  return frame.file ? (frame.line > 0 ? `${frame.file}:${frame.line}` : frame.file) : '';
}

const frameKeys = {
  name: { text: (row: FrameName) => row.name },
  binary: { text: (row: FrameName) => baseName(row.binary) },
  place: { text: (row: FrameName) => baseName(placeOf(row)) },
};

export const topKeys: Record<string, Key<TopRow>> = {
  ...frameKeys,
  self: (row) => row.flat,
  self_share: (row) => row.flat,
  total: (row) => row.cum,
  total_share: (row) => row.cum,
  callers: (row) => row.callers ?? Number.NaN,
};

// Growth in relation to before: new is more than any growth, gone is -1.
function growth(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? Number.POSITIVE_INFINITY : after / before - 1;
}

// What did not change comes last in either direction, not between more and less.
function changed(delta: number): number {
  return delta === 0 ? Number.NaN : delta;
}

export const diffKeys: Record<string, Key<DiffRow>> = {
  ...frameKeys,
  self_before: (row) => row.flat_before,
  self_after: (row) => row.flat_after,
  self_delta: (row) => changed(row.flat_delta),
  self_relative: (row) => growth(row.flat_before, row.flat_after),
  total_before: (row) => row.cum_before,
  total_after: (row) => row.cum_after,
  total_delta: (row) => changed(row.cum_delta),
  total_relative: (row) => growth(row.cum_before, row.cum_after),
  significance: (row) => row.q_value ?? Number.NaN,
};

// What the table of the other kind is sorted by has a counterpart here: going to a comparison and back keeps the intent.
export function knownSort(text: string, keys: Record<string, unknown>, fallback: string): Sort {
  const sort = readSort(text);
  if (sort.column in keys) return sort;
  const side = sort.column.startsWith('total') ? 'total' : 'self';
  for (const column of [`${side}_delta`, side]) if (column in keys) return { column, descending: true };
  return readSort(fallback);
}

export class TableModel<Row extends FrameName> {
  private readonly made = new Map<string, Float64Array>();
  constructor(
    readonly rows: readonly Row[],
    private readonly keys: Record<string, Key<Row>>,
  ) {}

  keysOf(column: string): Float64Array {
    let keys = this.made.get(column);
    if (!keys) {
      const key = this.keys[column];
      keys = typeof key === 'function' ? Float64Array.from(this.rows, key) : textKeys(this.rows.map(key.text));
      this.made.set(column, keys);
    }
    return keys;
  }

  // `keep` undefined keeps all.
  shown(match: Match, sort: Sort, keep?: (row: Row) => boolean): Uint32Array {
    const { length } = this.rows;
    const rows =
      match.empty && !keep
        ? allRows(length)
        : filterRows(length, (i) => (!keep || keep(this.rows[i])) && match.test(this.rows[i].name));
    return sortRows(rows, this.keysOf(sort.column), sort.descending);
  }
}

// "+25 %"; from ten times on "×12", as nobody reads +1100 %.
export function relativeText(before: number, after: number): string {
  const times = before > 0 && after > 0 ? after / before : 0;
  return times >= 10 ? `×${times >= 1000 ? '> 999' : times.toFixed(0)}` : formatRelative(before, after);
}

// Nothing needs no unit.
export function valueText(weight: number, measure: Measure): string {
  return weight === 0 ? '0' : measure.value(weight);
}

// Where a row is now, after another answer or under another order.
export function findFrame(rows: readonly FrameName[], wanted: FrameName | null): number {
  if (!wanted) return -1;
  const { name, file, line, binary } = wanted;
  return rows.findIndex((row) => row.name === name && row.line === line && row.file === file && row.binary === binary);
}

// As the server says it, or told from the numbers by what an older one sends.
export function changeOf(row: DiffRow): 'new' | 'removed' | 'changed' | 'same' {
  if (row.change) return row.change;
  if (row.cum_before === 0 && row.cum_after !== 0) return 'new';
  if (row.cum_after === 0 && row.cum_before !== 0) return 'removed';
  return row.flat_delta !== 0 || row.cum_delta !== 0 ? 'changed' : 'same';
}

export function keepsChange(filter: ChangeFilter): ((row: DiffRow) => boolean) | undefined {
  if (filter === 'all') return undefined;
  if (filter === 'significant') return (row) => row.significant === true;
  return (row) => changeOf(row) === filter;
}

// "q 0.012"; how likely a change of this size is without a cause, with so many functions looked at.
export function significanceText(row: DiffRow): string {
  if (row.q_value === null || row.q_value === undefined) return '–';
  if (row.q_value < 0.001) return 'q < 0.001';
  return `q ${row.q_value.toFixed(row.q_value < 0.01 ? 3 : 2)}`;
}
