// A cell or a region in words, for the line below the map and for screen readers.
import { formatCount, formatRate, formatTime, formatValue } from '../../text/format';
import { type Cell, type Heatmap, type Region, regionTimes, regionTotal } from './geometry';

// A place on the axis of rows; `largest` says how finely.
export function rowText(map: Heatmap, value: number, largest?: number): string {
  if (map.rows_by === 'rate') return formatRate(value, map.unit, map.type);
  return formatValue(Math.round(value), map.rows_by === 'offset' ? 'nanoseconds' : map.unit, largest);
}

// What a cell holds.
export function amount(map: Heatmap, value: number): string {
  if (map.cells_are === 'weight') return formatValue(value, map.unit);
  return value === 1 ? '1 profile' : `${formatCount(value)} profiles`;
}

function clock(map: Heatmap, nanoseconds: number): string {
  const time = formatTime(nanoseconds / 1e6);
  if (map.kind === 'value') return time;
  return `${time.slice(11)}.${String(Math.floor((nanoseconds / 1e6) % 1000)).padStart(3, '0')}`;
}

function valueRange(map: Heatmap, low: number, high: number): string {
  const at = (row: number) => rowText(map, map.row_start + row * map.row_size);
  if (map.row_size === 0) return at(0);
  return `${at(low)} to ${at(high + 1)}`;
}

export function cellText(map: Heatmap, cell: Cell, values: Map<number, number>): string {
  const value = values.get(cell.column * map.rows + cell.row) ?? 0;
  const { from, to } = regionTimes(map, { first: cell, last: cell });
  const what = map.kind === 'value' ? `, ${valueRange(map, cell.row, cell.row)}` : '';
  return `${clock(map, from)} to ${clock(map, to)}${what}: ${value === 0 ? 'nothing' : amount(map, value)}`;
}

export function regionText(map: Heatmap, region: Region): string {
  const { from, to } = regionTimes(map, region);
  const what = map.kind === 'value' ? `, ${valueRange(map, region.first.row, region.last.row)}` : '';
  const length = formatValue(Math.round(to - from), 'nanoseconds');
  return `${clock(map, from)} for ${length}${what}: ${amount(map, regionTotal(map, region))}`;
}

export function cellValues(map: Heatmap): Map<number, number> {
  return new Map(map.cells.map(([column, row, value]) => [column * map.rows + row, value]));
}
