// The time series on uPlot: stacked bars, a drag for a range, with Shift for a baseline. Knows nothing of the state; who
// makes it says what a choice does.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTime } from '../../text/format';
import { type ChartData, seriesAt, stacked } from './stack';

export interface ChartColors {
  series: string[];
  text: string;
  grid: string;
  mark: string;
}
export interface Chart {
  from: number; // Unix milliseconds
  to: number;
  data: ChartData;
  colors: ChartColors;
  baseline: { from: number; to: number } | null;
  format(value: number): string;
}
export interface ChartEvents {
  onRange(from: number, to: number, shift: boolean): void;
  onSeries(index: number, alt: boolean): void;
  onCursor(index: number | null): void;
}

const shortestDrag = 4; // pixels

// Hours and minutes; the day where a tick or the first of them needs it.
function tickText(time: number, stepSeconds: number, first: boolean): string {
  const text = formatTime(time);
  if (stepSeconds >= 86_400) return text.slice(5, 10);
  if (first && stepSeconds >= 3600) return text.slice(5, 16);
  return stepSeconds < 60 ? text.slice(11) : text.slice(11, 16);
}

export function makeChart(element: HTMLElement, chart: Chart, events: ChartEvents) {
  let current = chart;
  let heights = stacked(chart.data.series);
  let shift = false;
  let alt = false;
  let plot: uPlot;
  let dragged = false;

  // The bars of the whole stack are drawn first, then those below over them: uPlot has no stacking.
  const columns = (): uPlot.AlignedData => [current.data.times.map((time) => time / 1000), ...heights.toReversed()];
  const bars = uPlot.paths.bars!({ size: [1, Number.POSITIVE_INFINITY], align: 1, gap: 0 });

  const drawBaseline = (u: uPlot) => {
    const { baseline } = current;
    if (!baseline) return;
    const left = Math.max(u.bbox.left, u.valToPos(baseline.from / 1000, 'x', true));
    const right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(baseline.to / 1000, 'x', true));
    if (right <= left) return;
    const { ctx } = u;
    const { top, height } = u.bbox;
    ctx.save();
    ctx.strokeStyle = current.colors.mark;
    ctx.lineWidth = uPlot.pxRatio;
    ctx.strokeRect(left, top, right - left, height);
    ctx.beginPath();
    ctx.rect(left, top, right - left, height);
    ctx.clip();
    ctx.globalAlpha = 0.35;
    ctx.beginPath();
    // Hatched: the mark is known without its colour.
    for (let x = left - height; x < right; x += 8 * uPlot.pxRatio) {
      ctx.moveTo(x, top + height);
      ctx.lineTo(x + height, top);
    }
    ctx.stroke();
    ctx.restore();
  };

  const options = (): uPlot.Options => {
    const { colors } = current;
    const axis = {
      stroke: colors.text,
      grid: { stroke: colors.grid, width: 1 },
      ticks: { stroke: colors.grid, width: 1 },
    };
    return {
      width: Math.max(200, element.clientWidth),
      height: Math.max(120, element.clientHeight),
      legend: { show: false },
      padding: [8, 22, 0, 0],
      scales: {
        x: { time: true, range: () => [current.from / 1000, current.to / 1000] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          font: '11.5px system-ui, sans-serif',
          size: 30,
          space: 90,
          values: (_, splits, __, ___, step) => splits.map((time, index) => tickText(time * 1000, step, index === 0)),
        },
        {
          ...axis,
          font: '11.5px system-ui, sans-serif',
          size: 92,
          values: (_, ticks) => ticks.map((tick) => current.format(tick)),
        },
      ],
      cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: shortestDrag }, points: { show: false } },
      series: [
        {},
        ...current.data.series.map((_, index) => {
          const color = colors.series[current.data.series.length - 1 - index];
          return { paths: bars, fill: color, stroke: color, width: 0, points: { show: false } };
        }),
      ],
      hooks: {
        draw: [drawBaseline],
        setSelect: [
          (u) => {
            if (u.select.width < shortestDrag) return;
            dragged = true;
            const from = u.posToVal(u.select.left, 'x') * 1000;
            const to = u.posToVal(u.select.left + u.select.width, 'x') * 1000;
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            events.onRange(Math.round(from), Math.round(to), shift);
          },
        ],
        setCursor: [
          (u) => {
            const { left } = u.cursor;
            events.onCursor(left === undefined || left < 0 ? null : bucketAt(u, left));
          },
        ],
      },
    };
  };

  // The bucket that holds the place, not the nearest start of one.
  const bucketAt = (u: uPlot, left: number): number | null => {
    const { times, step } = current.data;
    if (times.length === 0) return null;
    const index = Math.floor((u.posToVal(left, 'x') * 1000 - times[0]) / step);
    return index >= 0 && index < times.length ? index : null;
  };

  const onDown = (event: MouseEvent) => {
    shift = event.shiftKey;
    alt = event.altKey;
    dragged = false;
  };
  const onClick = (event: MouseEvent) => {
    if (dragged) return;
    const box = plot.over.getBoundingClientRect();
    const index = bucketAt(plot, event.clientX - box.left);
    if (index === null) return;
    const found = seriesAt(heights, index, plot.posToVal(event.clientY - box.top, 'y'));
    if (found >= 0) events.onSeries(found, alt || event.altKey);
  };

  const build = () => {
    plot?.destroy();
    plot = new uPlot(options(), columns(), element);
    plot.over.addEventListener('mousedown', onDown);
    plot.over.addEventListener('click', onClick);
  };
  build();
  const observer = new ResizeObserver(() => {
    plot.setSize({ width: Math.max(200, element.clientWidth), height: Math.max(120, element.clientHeight) });
  });
  observer.observe(element);

  return {
    update(next: Chart) {
      const rebuild =
        next.data.series.length !== current.data.series.length ||
        next.colors.text !== current.colors.text ||
        next.colors.series.join() !== current.colors.series.join();
      current = next;
      heights = stacked(next.data.series);
      if (rebuild) build();
      else plot.setData(columns());
    },
    destroy() {
      observer.disconnect();
      plot.destroy();
    },
  };
}
