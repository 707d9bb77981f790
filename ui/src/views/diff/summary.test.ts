import { describe, expect, it } from 'vitest';
import type { AnswerHeader, Diff, DiffRow } from '../../api/types';
import { changeSentence, largestChanges, significanceSentence, warningsOf } from './summary';

const hour = 3600e9;
const side: AnswerHeader = {
  type: 'cpu',
  unit: 'nanoseconds',
  total: 0,
  duration_ns: hour,
  covered_ns: hour,
  instances: 1,
  samples: 5000,
  warnings: [],
  time_ns: 0,
  profile_type: '',
  temporality: 'cumulative',
  from_ns: 0,
  to_ns: hour,
  profiles: 1,
  services: 1,
};
const diff = (before: number, after: number, more: Partial<Diff> = {}): Diff => ({
  ...side,
  scale: 'rate',
  total_before: before,
  total_after: after,
  total_delta: after - before,
  samples_before: 5000,
  samples_after: 5000,
  baseline: side,
  rows: [],
  cut: { rows: 0, flat_delta: 0 },
  coverage: { named: 1 },
  ...more,
});
const row = (name: string, before: number, after: number, significant = true): DiffRow => ({
  name,
  file: '',
  line: 0,
  binary: '',
  flat_before: before,
  flat_after: after,
  flat_delta: after - before,
  cum_before: before,
  cum_after: after,
  cum_delta: after - before,
  significant,
});

describe('a comparison', () => {
  it('says what takes more time, and never that it is slower', () => {
    expect(changeSentence(side, 100, 125)).toBe('The selection takes 25 % more time than the baseline.');
    expect(changeSentence(side, 100, 128, 'per instance')).toBe(
      'The selection takes 28 % more time per instance than the baseline.',
    );
    expect(changeSentence({ ...side, unit: 'bytes' }, 100, 75)).toBe(
      'The selection has 25 % less memory than the baseline.',
    );
    expect(changeSentence(side, 100, 100)).toContain('as much time');
    expect(changeSentence(side, 0, 100)).toContain('baseline is empty');
    for (const after of [1, 99, 100, 300]) expect(changeSentence(side, 100, after)).not.toMatch(/slow|fast/);
  });
  it('says how many changes are more than chance, or that it cannot', () => {
    expect(significanceSentence(0, diff(1, 2))).toMatch(/^No function/);
    expect(significanceSentence(1, diff(1, 2))).toMatch(/^1 function changed/);
    expect(significanceSentence(9, diff(1, 2))).toMatch(/\(q < 0\.05\)\.$/);
    expect(significanceSentence(9, diff(1, 2), true)).toMatch(/; the largest:$/);
    expect(significanceSentence(3, diff(1, 2, { samples_before: 0 }))).toMatch(/Significance is unknown/);
  });
  it('names the three largest changes, in the words of its scale', () => {
    const rows = [
      row('parse', 0, hour / 4),
      row('caller', hour, hour),
      row('copy', hour / 2, hour / 4),
      row('chance', 1, 9, false),
      row('walk', hour / 10, hour / 5),
      row('more', 1, 5),
    ];
    const found = largestChanges(diff(hour, hour, { rows }));
    expect(found.map((one) => `${one.row.name} ${one.text}`)).toEqual([
      'parse +0.25 cores (new)',
      'copy −0.25 cores (−50 %)',
      'walk +0.10 cores (+100 %)',
    ]);
    expect(largestChanges(diff(hour, hour, { rows, samples_after: 0 }))).toEqual([]);
  });
  it('warns of sides that are unlike, of each thing once', () => {
    const few = { code: 'few_samples', text: 'few' };
    const unlike = { code: 'coverage_differs', text: 'unlike' };
    expect(warningsOf(diff(1, 2))).toEqual([]);
    expect(warningsOf(diff(1, 2, { unit: 'bytes' }))[0].text).toMatch(/different units/);
    expect(warningsOf(diff(1, 2, { warnings: [unlike, few], baseline: { ...side, warnings: [few] } }))).toEqual([
      unlike,
      few,
    ]);
  });
});
