// Where the cells of a heat map are, which of them a region has, and what the region means in times and rates. Row 0 is
// at the bottom. Time by value selects a rectangle; time by offset selects a stretch of time, from the first cell up its
// column and on to the last, because that is what samples can be asked by.
import type { HeatmapKind, Source } from '../../state/state';

export interface Heatmap {
  type: string;
  unit: string;
  kind: HeatmapKind;
  start_ns: number;
  column_ns: number;
  columns: number;
  rows: number;
  rows_by: 'rate' | 'value' | 'offset'; // what a row is: a profile's value per second, its value, a time in the column
  cells_are: 'weight' | 'profiles';
  row_start: number;
  row_size: number;
  cell_total: number;
  left_out: number;
  cells: [column: number, row: number, value: number][];
  matched?: [column: number, row: number, value: number][];
}
export interface Cell {
  column: number;
  row: number;
}
export interface Region {
  first: Cell;
  last: Cell;
}
export interface Plot {
  left: number;
  top: number;
  width: number;
  height: number;
}
type Shape = Pick<Heatmap, 'columns' | 'rows'>;

export function plotOf(width: number, height: number): Plot {
  return { left: 76, top: 8, width: Math.max(1, width - 84), height: Math.max(1, height - 36) };
}

// Left and top edges in whole pixels, so that cells have no seams.
export function columnX(plot: Plot, columns: number, column: number): number {
  return plot.left + Math.round((column * plot.width) / columns);
}
export function rowY(plot: Plot, rows: number, row: number): number {
  return plot.top + plot.height - Math.round(((row + 1) * plot.height) / rows);
}

const clamp = (value: number, most: number) => Math.min(most, Math.max(0, value));

// The cell under a point; points beside the plot belong to the nearest.
export function cellAt(plot: Plot, shape: Shape, x: number, y: number): Cell {
  const column = Math.floor(((x - plot.left) * shape.columns) / plot.width);
  const row = Math.floor(((plot.top + plot.height - y) * shape.rows) / plot.height);
  return { column: clamp(column, shape.columns - 1), row: clamp(row, shape.rows - 1) };
}

export function isInside(plot: Plot, x: number, y: number): boolean {
  return x >= plot.left && x < plot.left + plot.width && y >= plot.top && y < plot.top + plot.height;
}

export function regionOf(a: Cell, b: Cell, kind: HeatmapKind): Region {
  if (kind === 'offset') {
    const inOrder = a.column < b.column || (a.column === b.column && a.row <= b.row);
    return inOrder ? { first: a, last: b } : { first: b, last: a };
  }
  return {
    first: { column: Math.min(a.column, b.column), row: Math.min(a.row, b.row) },
    last: { column: Math.max(a.column, b.column), row: Math.max(a.row, b.row) },
  };
}

// The rows that the region has in a column, both included; undefined when none.
export function rowsIn(region: Region, kind: HeatmapKind, column: number, rows: number): [number, number] | undefined {
  const { first, last } = region;
  if (column < first.column || column > last.column) return undefined;
  if (kind === 'value') return [first.row, last.row];
  return [column === first.column ? first.row : 0, column === last.column ? last.row : rows - 1];
}

// What the cells of the region add up to.
export function regionTotal(map: Heatmap, region: Region): number {
  let total = 0;
  for (const [column, row, value] of map.cells) {
    const rows = rowsIn(region, map.kind, column, map.rows);
    if (rows && row >= rows[0] && row <= rows[1]) total += value;
  }
  return total;
}

// Times of the region in Unix nanoseconds.
export function regionTimes(map: Heatmap, region: Region): { from: number; to: number } {
  const start = (cell: Cell, rows: number) =>
    map.start_ns + cell.column * map.column_ns + (map.kind === 'offset' ? (cell.row + rows) * map.row_size : 0);
  if (map.kind === 'offset') return { from: start(region.first, 0), to: start(region.last, 1) };
  return { from: start(region.first, 0), to: start({ ...region.last, column: region.last.column + 1 }, 0) };
}

// Profiles are found by when they began: one that began earlier may have samples in a stretch of time.
const longestProfileMs = 15 * 60_000;

// Of each profile, the part that is in these columns: the flame graph has the weight that is drawn. The ends of rows are
// the server's own numbers, so that it finds the profiles of the same cells.
function rateSource(map: Heatmap, region: Region, { query, file }: Source): Source {
  const { from, to } = regionTimes(map, region);
  const end = (row: number) => String(map.row_start + row * map.row_size);
  const part: Source = { query, file, from: String(Math.round(from / 1e6)), to: String(Math.round(to / 1e6)) };
  part.rateMin = end(region.first.row);
  const isTop = region.last.row === map.rows - 1 || map.row_size === 0;
  if (!isTop) part.rateMax = end(region.last.row + 1);
  return part;
}

export function regionSource(map: Heatmap, region: Region, source: Source): Source {
  const { from, to } = regionTimes(map, region);
  const { query, file } = source;
  const end = String(Math.ceil(to / 1e6));
  if (map.kind === 'offset') {
    const begin = Math.max(Math.floor(map.start_ns / 1e6), Math.floor(from / 1e6) - longestProfileMs);
    const nanoseconds = (time: number) => BigInt(Math.round(time)).toString();
    return { query, file, from: String(begin), to: end, sampleFrom: nanoseconds(from), sampleTo: nanoseconds(to) };
  }
  if (map.rows_by === 'rate') return rateSource(map, region, source);
  // Values are whole; the largest of all belongs to the last row.
  const least = Math.ceil(map.row_start + region.first.row * map.row_size);
  const isTop = region.last.row === map.rows - 1 || map.row_size === 0;
  const above = map.row_start + (region.last.row + 1) * map.row_size;
  const most = isTop ? Math.floor(map.row_start + map.rows * map.row_size + 1e-6) + 1 : Math.ceil(above);
  const part: Source = { query, file, from: String(Math.floor(from / 1e6)), to: end };
  if (region.first.row > 0) part.valueMin = String(least);
  if (!isTop) part.valueMax = String(most);
  return part;
}

const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

// Length of a column in seconds so that there are at most so many.
export function columnSeconds(rangeMs: number, most: number, least = 1): number {
  const wanted = Math.max(least, rangeMs / 1000 / Math.max(1, most));
  return seconds.find((step) => step >= wanted) ?? Math.ceil(wanted / 86400) * 86400;
}
