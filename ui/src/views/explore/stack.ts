// Series of totals on one time grid, the largest at the bottom of the stack, what the server left out on top as "rest".
import type { Totals, TotalsSeries } from '../../api/types';

export interface ChartSeries {
  value: string; // of the label; empty where the series has none
  rest: boolean;
  values: (number | null)[]; // per second, or as they are for instant types; null = no data
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

// Sums by bucket of the grid; null = no data.
function bucketsOf(times_ns: readonly number[], from: readonly number[], times: readonly number[], stepNs: number) {
  const sums: (number | null)[] = new Array(times.length).fill(null);
  times_ns.forEach((time, index) => {
    const at = Math.round((time - times[0]) / stepNs);
    if (at >= 0 && at < sums.length) sums[at] = (sums[at] ?? 0) + from[index];
  });
  return sums;
}

// Heights per second. Series that are stacked share the time that any of them covers, so that they add up to the whole:
// two versions that follow each other within a bucket are not both there for all of it.
function heightsOf(one: TotalsSeries, times: readonly number[], stepNs: number, shared?: readonly (number | null)[]) {
  if (!one.rates) return bucketsOf(one.times_ns, one.values, times, stepNs);
  if (!shared) return bucketsOf(one.times_ns, one.rates, times, stepNs);
  return bucketsOf(one.times_ns, one.values, times, stepNs).map((value, index) =>
    value === null ? null : (value * 1e9) / (shared[index] || stepNs),
  );
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

// Average over the time that has data, not of the range: a program that is eight minutes old is not idle for the rest of the hour.
function averageOf(one: TotalsSeries): number | undefined {
  const covered = sumOf(one.covered_ns ?? []);
  return one.rates && covered > 0 ? (sumOf(one.values) * 1e9) / covered : undefined;
}

// What fell into no time that is known stands for the whole range.
function meanOf(one: TotalsSeries, values: readonly (number | null)[]): number | undefined {
  return one.rates ? sumOf(values.map((value) => value ?? 0)) / values.length : undefined;
}

function described(value: string, rest: boolean, values: (number | null)[], average?: number): ChartSeries {
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
  return { value, rest, values, average: average ?? (count ? sum / count : 0), peak, peakIndex };
}

// `grouped` has the largest series; `whole` the sum of all, for the rest.
export function chartData(grouped: Totals, whole: Totals | undefined, label: string): ChartData {
  const all = whole?.series[0];
  const lists = [...grouped.series, ...(all ? [all] : [])];
  const times = grid(lists, grouped.from_ns, grouped.to_ns, grouped.step_ns);
  const step = grouped.step_ns > 0 ? grouped.step_ns : grouped.to_ns - grouped.from_ns;
  const shared =
    all?.covered_ns && sumOf(all.covered_ns) > 0 ? bucketsOf(all.times_ns, all.covered_ns, times, step) : undefined;
  const series = grouped.series.map((one) => {
    const heights = heightsOf(one, times, step, shared);
    const average = averageOf(one) ?? meanOf(one, heights);
    return described(label ? (one.labels[label] ?? '') : '', false, heights, average);
  });
  const restCount = grouped.cut.series;
  if (restCount > 0 && all) {
    const rest = heightsOf(all, times, step).map((value, index) => {
      if (value === null) return null;
      const shown = series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0);
      // Averages of instant types are rounded: never below nothing.
      return Math.max(0, value - shown);
    });
    series.push(described('', true, rest));
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
