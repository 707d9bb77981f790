import { describe, expect, it } from 'vitest';
import { drawHeatmap } from './draw';
import { cellAt, type Heatmap, plotOf } from './geometry';
import { light } from './palette';

type Box = [number, number, number, number];

// Records what is filled; all else is swallowed.
function recorder() {
  const boxes: Box[] = [];
  const target: Record<string, unknown> = { fillRect: (...box: Box) => boxes.push(box) };
  const context = new Proxy(target, {
    get: (from, name: string) => from[name] ?? (() => undefined),
    set: (from, name: string, value) => {
      from[name] = value;
      return true;
    },
  });
  return { boxes, context: context as unknown as CanvasRenderingContext2D };
}

const map = (columns: number, rows: number, cells: Heatmap['cells']): Heatmap => ({
  type: 'cpu',
  unit: 'count',
  kind: 'value',
  start_ns: 0,
  column_ns: 1e9,
  columns,
  rows,
  rows_by: 'value',
  cells_are: 'weight',
  row_start: 0,
  row_size: 1,
  cell_total: 1,
  left_out: 0,
  cells,
});
const draw = (scene: Heatmap, width: number, height: number) => {
  const { boxes, context } = recorder();
  const plot = plotOf(width, height);
  drawHeatmap(context, { map: scene, plot, palette: light, first: null, second: null, cursor: null });
  return { boxes, plot };
};

describe('drawing a heat map', () => {
  it('shows every cell with at least a pixel, also with more columns than pixels', () => {
    const cells: Heatmap['cells'] = Array.from({ length: 3000 }, (_, i) => [i, i % 40, 1]);
    const { boxes } = draw(map(3000, 40, cells), 900, 300);
    expect(boxes.length).toBeGreaterThanOrEqual(3000);
    expect(boxes.slice(0, 3000).every(([, , width, height]) => width >= 1 && height >= 1)).toBe(true);
  });
  it('puts a cell where the pointer finds it', () => {
    const scene = map(37, 11, [[20, 7, 5]]);
    const { boxes, plot } = draw(scene, 1000, 400);
    const [x, y, width, height] = boxes[0];
    expect(cellAt(plot, scene, x + width / 2, y + height / 2)).toEqual({ column: 20, row: 7 });
  });
});
