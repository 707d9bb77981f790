// Draws a heat map on a 2D context: cells, axes, regions, cursor. Knows nothing of the page.
import { formatTime } from '../../text/format';
import { type Cell, columnX, type Heatmap, type Plot, type Region, rowsIn, rowY } from './geometry';
import { colorAt, css, type Palette, strength } from './palette';
import { rowText } from './readout';

export interface Scene {
  map: Heatmap;
  plot: Plot;
  palette: Palette;
  first: Region | null;
  second: Region | null;
  cursor: Cell | null;
}

function largest(cells: Heatmap['cells']): number {
  let most = 0;
  for (const cell of cells) most = Math.max(most, cell[2]);
  return most;
}

function drawCells(context: CanvasRenderingContext2D, { map, plot, palette }: Scene) {
  const most = largest(map.cells);
  const isSearched = map.matched !== undefined;
  const box = (column: number, row: number): [number, number, number, number] => {
    const x = columnX(plot, map.columns, column);
    const y = rowY(plot, map.rows, row);
    // Never less than a pixel, or a cell of a long range would not be seen at all.
    const width = Math.max(1, columnX(plot, map.columns, column + 1) - x);
    return [x, y, width, Math.max(1, rowY(plot, map.rows, row - 1) - y)];
  };
  // What the search does not find steps back: the difference is in the lightness too, not in the hue alone.
  for (const [column, row, value] of map.cells) {
    context.fillStyle = css(colorAt(palette, strength(value, most)), isSearched ? 0.35 : 1);
    context.fillRect(...box(column, row));
  }
  for (const [column, row, value] of map.matched ?? []) {
    const [x, y, width, height] = box(column, row);
    context.fillStyle = css(palette.lit, 0.35 + 0.65 * strength(value, most));
    context.fillRect(x, y, width, height);
    if (width >= 5 && height >= 5) {
      context.strokeStyle = css(palette.lit);
      context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    }
  }
}

export function timeTicks(map: Heatmap, width: number): number[] {
  const every = Math.max(1, Math.ceil(map.columns / Math.max(1, Math.floor(width / 130))));
  return Array.from({ length: Math.ceil(map.columns / every) }, (_, i) => i * every);
}

function drawAxes(context: CanvasRenderingContext2D, { map, plot, palette }: Scene) {
  context.fillStyle = palette.text;
  context.strokeStyle = palette.line;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const rowTicks = 5;
  const largest = map.row_start + map.rows * map.row_size;
  for (let i = 0; i <= rowTicks; ++i) {
    const value = map.row_start + (map.rows * map.row_size * i) / rowTicks;
    const y = plot.top + plot.height - (plot.height * i) / rowTicks;
    const text = rowText(map, value, largest);
    context.fillText(text, plot.left - 8, Math.min(plot.top + plot.height - 5, Math.max(plot.top + 5, y)));
  }
  context.textBaseline = 'top';
  context.textAlign = 'left';
  const isLong = map.columns * map.column_ns > 86_400e9;
  for (const column of timeTicks(map, plot.width)) {
    const time = formatTime((map.start_ns + column * map.column_ns) / 1e6);
    const x = columnX(plot, map.columns, column);
    const text = isLong ? time.slice(5, 16) : time.slice(11);
    context.fillRect(x, plot.top + plot.height + 1, 1, 4);
    if (x + 60 < plot.left + plot.width) context.fillText(text, x + 4, plot.top + plot.height + 6);
  }
  context.strokeRect(plot.left - 0.5, plot.top - 0.5, plot.width + 1, plot.height + 1);
}

// Columns that are alike become one box, so that a rectangle looks like one.
function drawRegion(context: CanvasRenderingContext2D, scene: Scene, region: Region, color: string, isDashed: boolean) {
  const { map, plot } = scene;
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = 2;
  context.setLineDash(isDashed ? [6, 4] : []);
  const { first, last } = region;
  let column = first.column;
  while (column <= last.column) {
    const rows = rowsIn(region, map.kind, column, map.rows)!;
    let end = column + 1;
    while (end <= last.column && `${rowsIn(region, map.kind, end, map.rows)}` === `${rows}`) ++end;
    const x = columnX(plot, map.columns, column);
    const y = rowY(plot, map.rows, rows[1]);
    const width = Math.max(2, columnX(plot, map.columns, end) - x);
    const height = Math.max(2, rowY(plot, map.rows, rows[0] - 1) - y);
    context.globalAlpha = 0.12;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    context.strokeRect(x, y, width, height);
    column = end;
  }
  context.setLineDash([]);
  context.lineWidth = 1;
}

export function drawHeatmap(context: CanvasRenderingContext2D, scene: Scene) {
  drawCells(context, scene);
  drawAxes(context, scene);
  if (scene.first) drawRegion(context, scene, scene.first, scene.palette.first, false);
  if (scene.second) drawRegion(context, scene, scene.second, scene.palette.second, true);
  if (scene.cursor) {
    const { map, plot, cursor } = scene;
    const x = columnX(plot, map.columns, cursor.column);
    const y = rowY(plot, map.rows, cursor.row);
    context.strokeStyle = scene.palette.cursor;
    context.lineWidth = 2;
    const width = Math.max(4, columnX(plot, map.columns, cursor.column + 1) - x);
    context.strokeRect(x - 1, y - 1, width + 2, Math.max(4, rowY(plot, map.rows, cursor.row - 1) - y) + 2);
    context.lineWidth = 1;
  }
}
