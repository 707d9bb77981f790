import { describe, expect, it } from 'vitest';
import {
  cellAt,
  columnSeconds,
  columnX,
  type Heatmap,
  plotOf,
  regionOf,
  regionSource,
  regionTimes,
  regionTotal,
  rowsIn,
  rowY,
} from './geometry';

const map = (more: Partial<Heatmap> = {}): Heatmap => ({
  type: 'cpu',
  unit: 'nanoseconds',
  kind: 'value',
  start_ns: 1_763_200_000e9,
  column_ns: 10e9,
  columns: 30,
  rows: 20,
  rows_by: 'value',
  cells_are: 'weight',
  row_start: 100,
  row_size: 5,
  cell_total: 3,
  left_out: 0,
  cells: [
    [0, 0, 1],
    [3, 4, 2],
    [29, 19, 4],
  ],
  ...more,
});
const source = { query: 'cpu{}', from: 'now-1h', to: 'now', file: '' };

describe('cells', () => {
  it('are found where they are drawn, at any size', () => {
    const wrong: string[] = [];
    for (const [width, height] of [
      [900, 300],
      [1437, 411],
      [333, 120],
    ]) {
      const plot = plotOf(width, height);
      for (let column = 0; column < 30; ++column) {
        for (let row = 0; row < 20; ++row) {
          const x = (columnX(plot, 30, column) + columnX(plot, 30, column + 1)) / 2;
          const y = (rowY(plot, 20, row) + rowY(plot, 20, row - 1)) / 2;
          const found = cellAt(plot, map(), x, y);
          if (found.column !== column || found.row !== row) wrong.push(`${width}: ${column}, ${row}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
  it('fill the plot without seams', () => {
    const plot = plotOf(1001, 333);
    expect(columnX(plot, 30, 0)).toBe(plot.left);
    expect(columnX(plot, 30, 30)).toBe(plot.left + plot.width);
    expect(rowY(plot, 20, 19)).toBe(plot.top);
  });
  it('beside the plot are the nearest', () => {
    expect(cellAt(plotOf(900, 300), map(), -50, 5000)).toEqual({ column: 0, row: 0 });
  });
});

describe('regions', () => {
  const a = { column: 7, row: 3 };
  const b = { column: 5, row: 12 };
  it('of values are rectangles', () => {
    const region = regionOf(a, b, 'value');
    expect(region).toEqual({ first: { column: 5, row: 3 }, last: { column: 7, row: 12 } });
    expect(rowsIn(region, 'value', 6, 20)).toEqual([3, 12]);
    expect(rowsIn(region, 'value', 8, 20)).toBeUndefined();
  });
  it('of offsets are stretches of time', () => {
    const region = regionOf(a, b, 'offset');
    expect(region).toEqual({ first: b, last: a });
    expect(rowsIn(region, 'offset', 5, 20)).toEqual([12, 19]);
    expect(rowsIn(region, 'offset', 6, 20)).toEqual([0, 19]);
    expect(rowsIn(region, 'offset', 7, 20)).toEqual([0, 3]);
  });
  it('add up to what their cells do', () => {
    expect(regionTotal(map(), regionOf({ column: 0, row: 0 }, { column: 29, row: 19 }, 'value'))).toBe(7);
    expect(regionTotal(map(), regionOf({ column: 1, row: 0 }, { column: 5, row: 19 }, 'value'))).toBe(2);
  });
  it('of values say which profiles', () => {
    const part = regionSource(map(), regionOf({ column: 2, row: 4 }, { column: 3, row: 5 }, 'value'), source);
    expect(part).toEqual({
      query: 'cpu{}',
      file: '',
      from: '1763200020000',
      to: '1763200040000',
      valueMin: '120',
      valueMax: '130',
    });
  });
  it('of rates say which parts of which profiles, by the ends of rows as the server computes them', () => {
    const rates = map({ rows_by: 'rate', row_start: 0.1, row_size: 0.7 });
    const part = regionSource(rates, regionOf({ column: 2, row: 4 }, { column: 3, row: 5 }, 'value'), source);
    expect(part).toEqual({
      query: 'cpu{}',
      file: '',
      from: '1763200020000',
      to: '1763200040000',
      rateMin: String(0.1 + 4 * 0.7),
      rateMax: String(0.1 + 6 * 0.7),
    });
    const high = regionSource(rates, regionOf({ column: 0, row: 0 }, { column: 0, row: 19 }, 'value'), source);
    expect([high.rateMin, high.rateMax]).toEqual(['0.1', undefined]);
  });
  it('at the ends leave no profile out', () => {
    const part = regionSource(map(), regionOf({ column: 0, row: 0 }, { column: 0, row: 19 }, 'value'), source);
    expect(part.valueMin).toBeUndefined();
    expect(part.valueMax).toBeUndefined();
  });
  it('of offsets say which samples, to the nanosecond of the cell', () => {
    const offset = map({ kind: 'offset', column_ns: 1e9, row_start: 0, row_size: 50e6 });
    const region = regionOf({ column: 5, row: 2 }, { column: 5, row: 2 }, 'offset');
    const { from, to } = regionTimes(offset, region);
    expect(to - from).toBeCloseTo(50e6, -3);
    const part = regionSource(offset, region, source);
    expect(part.sampleFrom).toBe('1763200005100000000');
    expect(Number(part.from)).toBeLessThanOrEqual(1763200005100);
  });
});

describe('columns', () => {
  it('are as many as fit, in lengths that people know', () => {
    expect(columnSeconds(3_600_000, 300)).toBe(15);
    expect(columnSeconds(300_000, 300)).toBe(1);
    expect(columnSeconds(86_400_000 * 30, 300)).toBe(14400);
    expect(columnSeconds(86_400_000 * 1000, 300)).toBe(4 * 86400);
  });
});
