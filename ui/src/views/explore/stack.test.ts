import { describe, expect, it } from 'vitest';
import type { Totals } from '../../api/types';
import { chartData, seriesAt, stacked } from './stack';

const s = 1e9;
// Rates are per second of what a bucket of 15 s covers.
function totals(series: { pod?: string; at: number[]; rates: number[]; covered?: number[] }[], cut = 0): Totals {
  return {
    type: 'cpu',
    unit: 'nanoseconds',
    profile_type: '',
    temporality: 'cumulative',
    from_ns: 0,
    to_ns: 60 * s,
    step_ns: 15 * s,
    series: series.map(({ pod, at, rates, covered = at.map(() => 15) }) => ({
      labels: (pod === undefined ? {} : { pod }) as Record<string, string>,
      times_ns: at.map((time) => time * s),
      values: rates.map((rate, index) => rate * covered[index]),
      rates,
      covered_ns: covered.map((seconds) => seconds * s),
      profiles: at.map(() => 1),
    })),
    cut: { series: cut },
  };
}

describe('series over time', () => {
  it('share one grid, with gaps where nothing was', () => {
    const data = chartData(totals([{ pod: 'a', at: [15, 45], rates: [1, 3] }]), undefined, 'pod');
    expect(data.times).toEqual([0, 15_000, 30_000, 45_000]);
    expect(data.series[0]).toMatchObject({ value: 'a', values: [null, 1, null, 3], average: 2, peak: 3, peakIndex: 3 });
  });
  it('have the average of amounts where there are any', () => {
    const gauge = { ...totals([{ pod: 'a', at: [15, 45], rates: [1, 3] }]), temporality: 'instant' as const };
    expect(chartData(gauge, undefined, 'pod').series[0].average).toBe(2);
  });
  it('have the average of the time that has data', () => {
    const young = totals([{ at: [30, 45], rates: [2, 4], covered: [5, 15] }]);
    expect(chartData(young, undefined, '').series[0]).toMatchObject({ average: 3.5, values: [null, null, 2, 4] });
  });
  it('of profiles that do not say how long they took stand for the whole range', () => {
    const folded = totals([{ pod: 'a', at: [15, 45], rates: [1, 3], covered: [0, 0] }]);
    expect(chartData(folded, folded, 'pod').series[0]).toMatchObject({ average: 1, values: [null, 1, null, 3] });
  });
  it('that follow each other within a bucket are not stacked as if both were there for all of it', () => {
    const deploy = totals([
      { pod: 'old', at: [0, 15], rates: [2, 2], covered: [15, 5] },
      { pod: 'new', at: [15, 30], rates: [3, 3], covered: [10, 15] },
    ]);
    const whole = totals([{ at: [0, 15, 30], rates: [2, 40 / 15, 3] }]);
    const data = chartData(deploy, whole, 'pod');
    const sums = [0, 1, 2].map((i) => data.series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
    expect(sums[1]).toBeCloseTo(40 / 15);
    expect([sums[0], sums[2]]).toEqual([2, 3]);
    expect(data.series.map(({ average }) => average)).toEqual([2, 3]);
  });
  it('have a rest that makes up the sum', () => {
    const grouped = totals(
      [
        { pod: 'a', at: [0, 15], rates: [5, 5] },
        { pod: 'b', at: [0], rates: [2] },
      ],
      7,
    );
    const data = chartData(grouped, totals([{ at: [0, 15, 30], rates: [9, 6, 1] }]), 'pod');
    expect(data.restCount).toBe(7);
    expect(data.series[2]).toMatchObject({ rest: true, values: [2, 1, 1, null] });
    for (let i = 0; i < 3; ++i) {
      expect(data.series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0)).toBe([9, 6, 1][i]);
    }
  });
  it('have no rest when all are shown', () => {
    expect(
      chartData(totals([{ pod: 'a', at: [0], rates: [1] }]), totals([{ at: [0], rates: [1] }]), 'pod').series,
    ).toHaveLength(1);
  });
  it('may be none', () => {
    expect(chartData(totals([]), undefined, '')).toMatchObject({ times: [], series: [] });
  });
  it('survive a step that makes no sense', () => {
    const odd = { ...totals([{ pod: 'a', at: [0], rates: [1] }]), step_ns: 1 };
    expect(chartData(odd, undefined, 'pod').times.length).toBeLessThanOrEqual(5000);
    expect(chartData({ ...odd, step_ns: 0 }, undefined, 'pod').times).toEqual([0]);
  });
});

describe('a stack', () => {
  const series = [{ values: [1, null, 3] }, { values: [2, null, null] }];
  it('adds up from the bottom', () => {
    expect(stacked(series)).toEqual([
      [1, null, 3],
      [3, null, 3],
    ]);
  });
  it('is found by height', () => {
    const heights = stacked(series);
    expect([0.5, 1, 2, 3, 4].map((height) => seriesAt(heights, 0, height))).toEqual([0, 0, 1, 1, -1]);
    expect(seriesAt(heights, 1, 0)).toBe(-1);
    expect(seriesAt(heights, 0, -1)).toBe(-1);
  });
});
