import { describe, expect, it } from 'vitest';
import type { Heatmap } from './geometry';
import { cellText, cellValues, regionText, rowText } from './readout';

// Two cores for a minute, in columns of ten seconds.
const map = (more: Partial<Heatmap> = {}): Heatmap => ({
  type: 'cpu',
  unit: 'nanoseconds',
  kind: 'value',
  start_ns: 1_763_200_000e9,
  column_ns: 10e9,
  columns: 6,
  rows: 4,
  rows_by: 'rate',
  cells_are: 'weight',
  row_start: 1e9,
  row_size: 0.25e9,
  cell_total: 120e9,
  left_out: 0,
  cells: Array.from({ length: 6 }, (_, column): [number, number, number] => [column, 3, 20e9]),
  ...more,
});

describe('a cell in words', () => {
  it('has a rate and a weight', () => {
    expect(cellText(map(), { column: 1, row: 3 }, cellValues(map()))).toMatch(/, 1\.75 cores to 2 cores: 20 s$/);
    expect(cellText(map(), { column: 1, row: 0 }, cellValues(map()))).toMatch(/: nothing$/);
  });
  it('is one rate where all profiles have the same', () => {
    const flat = map({ row_start: 2e9, row_size: 0, cells: [[0, 0, 20e9]] });
    expect(cellText(flat, { column: 0, row: 0 }, cellValues(flat))).toMatch(/, 2 cores: 20 s$/);
  });
  it('counts the profiles of a gauge', () => {
    const heap = map({
      type: 'inuse_space',
      unit: 'bytes',
      rows_by: 'value',
      cells_are: 'profiles',
      cells: [[0, 0, 2]],
    });
    expect(cellText(heap, { column: 0, row: 0 }, cellValues(heap))).toMatch(/: 2 profiles$/);
  });
  it('adds up in a region', () => {
    const region = { first: { column: 0, row: 0 }, last: { column: 2, row: 3 } };
    expect(regionText(map(), region)).toMatch(/ for 30 s, 1 cores? to 2 cores: 1 min$/);
  });
  it('has axes in the unit of its rows', () => {
    expect(rowText(map(), 2e9)).toBe('2 cores');
    expect(rowText(map({ type: 'alloc_space', unit: 'bytes' }), 2048)).toMatch(/\/s$/);
    expect(rowText(map({ rows_by: 'offset' }), 20e6)).toBe('20 ms');
  });
});
