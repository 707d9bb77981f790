// biome-ignore-all lint/a11y/noNoninteractiveTabindex: an application takes keys
// The heat map on a canvas: pointer and keys choose cells and regions. What is under the cursor is said in words below.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useSize } from '../../parts/table/use_size';
import { isDark } from '../../state/theme';
import { drawHeatmap } from './draw';
import { type Cell, cellAt, type Heatmap, isInside, plotOf, type Region, regionOf } from './geometry';
import { dark, light } from './palette';
import { cellText, cellValues } from './readout';

interface Props {
  map: Heatmap;
  first: Region | null;
  second: Region | null;
  toSecond: boolean; // selections without Shift go to the second region too
  onSelect(region: Region | null, second: boolean): void;
  onOpen(): void;
}

function moved(key: string, cell: Cell, map: Heatmap, by: number): Cell | undefined {
  const to = {
    ArrowLeft: { ...cell, column: cell.column - by },
    ArrowRight: { ...cell, column: cell.column + by },
    ArrowUp: { ...cell, row: cell.row + by },
    ArrowDown: { ...cell, row: cell.row - by },
    Home: { ...cell, column: 0 },
    End: { ...cell, column: map.columns - 1 },
    PageUp: { ...cell, row: map.rows - 1 },
    PageDown: { ...cell, row: 0 },
  }[key];
  if (!to) return undefined;
  return {
    column: Math.min(map.columns - 1, Math.max(0, to.column)),
    row: Math.min(map.rows - 1, Math.max(0, to.row)),
  };
}

export function HeatmapCanvas({ map, first, second, toSecond, onSelect, onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(box);
  const [cursor, setCursor] = useState<Cell | null>(null);
  const [hovered, setHovered] = useState<Cell | null>(null);
  const [anchor, setAnchor] = useState<Cell | null>(null); // of a selection by key
  const drag = useRef<{ from: Cell; second: boolean } | null>(null);
  const values = useMemo(() => cellValues(map), [map]);
  const isNight = isDark();
  const plot = plotOf(width, height);

  useEffect(() => {
    setCursor(null);
    setAnchor(null);
  }, [map.kind, map.columns, map.rows]);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawHeatmap(context, { map, plot, palette: isNight ? dark : light, first, second, cursor });
  }, [map, width, height, isNight, first, second, cursor]);

  const point = (event: PointerEvent): [number, number] => {
    const bounds = canvas.current!.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };
  const onPointerDown = (event: PointerEvent) => {
    const [x, y] = point(event);
    if (event.button !== 0 || !isInside(plot, x, y)) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const from = cellAt(plot, map, x, y);
    drag.current = { from, second: event.shiftKey || toSecond };
    setCursor(null);
    onSelect(regionOf(from, from, map.kind), drag.current.second);
  };
  const onPointerMove = (event: PointerEvent) => {
    const [x, y] = point(event);
    const cell = cellAt(plot, map, x, y);
    if (drag.current) onSelect(regionOf(drag.current.from, cell, map.kind), drag.current.second);
    const next = isInside(plot, x, y) ? cell : null;
    if (next?.column !== hovered?.column || next?.row !== hovered?.row) setHovered(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = cursor ?? { column: Math.floor(map.columns / 2), row: 0 };
    const to = moved(event.key, from, map, event.ctrlKey ? 10 : 1);
    if (to) {
      event.preventDefault();
      setCursor(cursor ? to : from);
      if (event.shiftKey) {
        const start = anchor ?? from;
        setAnchor(start);
        onSelect(regionOf(start, to, map.kind), toSecond);
      } else {
        setAnchor(null);
      }
    } else if (event.key === ' ' && cursor) {
      event.preventDefault();
      setAnchor(cursor);
      onSelect(regionOf(cursor, cursor, map.kind), toSecond);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      onOpen();
    } else if (event.key === 'Escape') {
      onSelect(null, toSecond);
    }
  };
  const shown = hovered ?? cursor;
  return (
    <>
      <div
        ref={box}
        class="heatmap-box"
        role="application"
        tabIndex={0}
        aria-label={
          map.kind === 'value'
            ? `Heat map: profiles by time and ${map.rows_by}`
            : 'Heat map: samples by time and offset'
        }
        aria-describedby="heatmap-help heatmap-readout"
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          drag.current = null;
        }}
        onPointerLeave={() => setHovered(null)}
      >
        <canvas ref={canvas} class="heatmap-canvas" />
      </div>
      <p id="heatmap-readout" class="heatmap-readout" aria-live="polite">
        {shown ? cellText(map, shown, values) : ' '}
      </p>
    </>
  );
}
