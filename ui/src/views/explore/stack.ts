// Series of totals on one time grid, the largest at the bottom of the stack, what the server left out on top as "rest".
import type { Totals, TotalsSeries } from '../../api/types';

export interface ChartSeries {
  value: string; // of the label; empty where the series has none
  rest: boolean;
  values: (number | null)[]; // per second, or as they are for instant types; null = no profile
  average: number;
  peak: number;
  peakIndex: number;
}
export interface ChartData {
  times: number[]; // Unix milliseconds: where each bucket starts
  step: number; // milliseconds
  series: ChartSeries[];
  restCount: number; // series in the rest
}

const most = 5000; // buckets: a wrong step must not fill the memory

function grid(lists: readonly TotalsSeries[], fromNs: number, toNs: number, stepNs: number): number[] {
  const seen = lists.flatMap((one) => one.times_ns);
  if (seen.length === 0) return [];
  const step = stepNs > 0 ? stepNs : toNs - fromNs;
  let first = Math.min(...seen.slice(0, 1));
  for (const time of seen) if (time < first) first = time;
  // Back to the start of the range on the server's own grid.
  const before = Math.max(0, Math.floor((first - fromNs) / step));
  const start = first - before * step;
  const count = Math.max(1, Math.min(most, Math.ceil((toNs - start) / step)));
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function valuesOf(one: TotalsSeries, times: readonly number[], stepNs: number): (number | null)[] {
  const values: (number | null)[] = new Array(times.length).fill(null);
  const source = one.rates ?? one.values;
  one.times_ns.forEach((time, index) => {
    const at = Math.round((time - times[0]) / stepNs);
    if (at >= 0 && at < values.length) values[at] = (values[at] ?? 0) + source[index];
  });
  return values;
}

// Of sums over time the average is that of the whole range: where no profile is, nothing was used. An amount is not known there.
function described(value: string, rest: boolean, values: (number | null)[], isSum: boolean): ChartSeries {
  let sum = 0;
  let count = 0;
  let peak = 0;
  let peakIndex = 0;
  values.forEach((one, index) => {
    if (one === null) return;
    sum += one;
    count++;
    if (one > peak) {
      peak = one;
      peakIndex = index;
    }
  });
  return { value, rest, values, average: count ? sum / (isSum ? values.length : count) : 0, peak, peakIndex };
}

// `grouped` has the largest series; `whole` the sum of all, for the rest.
export function chartData(grouped: Totals, whole: Totals | undefined, label: string): ChartData {
  const lists = [...grouped.series, ...(whole?.series ?? [])];
  const times = grid(lists, grouped.from_ns, grouped.to_ns, grouped.step_ns);
  const step = grouped.step_ns > 0 ? grouped.step_ns : grouped.to_ns - grouped.from_ns;
  const isSum = grouped.temporality === 'cumulative';
  const series = grouped.series.map((one) =>
    described(label ? (one.labels[label] ?? '') : '', false, valuesOf(one, times, step), isSum),
  );
  const restCount = grouped.cut.series;
  if (restCount > 0 && whole && whole.series.length > 0) {
    const all = valuesOf(whole.series[0], times, step);
    const rest = all.map((value, index) => {
      if (value === null) return null;
      const shown = series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0);
      // Averages of instant types are rounded: never below nothing.
      return Math.max(0, value - shown);
    });
    series.push(described('', true, rest, isSum));
  }
  return { times: times.map((time) => time / 1e6), step: step / 1e6, series, restCount };
}

// Heights of the stack: entry i is series i with all below it; null where no series has anything.
export function stacked(series: readonly Pick<ChartSeries, 'values'>[]): (number | null)[][] {
  const length = series[0]?.values.length ?? 0;
  const below = new Array<number>(length).fill(0);
  const any = Array.from({ length }, (_, index) => series.some((one) => one.values[index] !== null));
  return series.map((one) =>
    one.values.map((value, index) => {
      below[index] += value ?? 0;
      return any[index] ? below[index] : null;
    }),
  );
}

// Which series lies at that height; -1 above the stack.
export function seriesAt(heights: readonly (number | null)[][], index: number, height: number): number {
  if (height < 0) return -1;
  return heights.findIndex((one) => (one[index] ?? 0) >= height && one[index] !== null);
}
