import { describe, expect, it } from 'vitest';
import { changeSentence, sideTotals, significanceSentence, warnings } from './summary';

const hour = 3600e9;
const side = {
  type: 'cpu',
  unit: 'nanoseconds',
  total: 0,
  duration_ns: hour,
  time_ns: 0,
  profile_type: '',
  temporality: 'cumulative' as const,
  from_ns: 0,
  to_ns: hour,
  profiles: 1,
  services: 1,
};
const diff = (before: number, after: number, more = {}) => ({
  ...side,
  total_before: before,
  total_after: after,
  samples_before: 5000,
  samples_after: 5000,
  baseline: side,
  ...more,
});

describe('a comparison', () => {
  it('says what takes more time, and never that it is slower', () => {
    expect(changeSentence(side, 100, 125)).toBe('The selection takes 25 % more time than the baseline.');
    expect(changeSentence({ ...side, unit: 'bytes' }, 100, 75)).toBe(
      'The selection has 25 % less memory than the baseline.',
    );
    expect(changeSentence(side, 100, 100)).toContain('as much time');
    expect(changeSentence(side, 0, 100)).toContain('baseline is empty');
    for (const after of [1, 99, 100, 300]) expect(changeSentence(side, 100, after)).not.toMatch(/slow|fast/);
  });
  it('by share still says what each side has', () => {
    const scaled = diff(50, 50, { total: 100, baseline: { ...side, total: 50 } });
    expect(sideTotals(scaled, 'normalized')).toEqual({ before: 50, after: 100 });
    expect(sideTotals(scaled, 'absolute')).toEqual({ before: 50, after: 50 });
  });
  it('says how many changes are more than chance, or that it cannot', () => {
    expect(significanceSentence(0, diff(1, 2))).toMatch(/^No function/);
    expect(significanceSentence(1, diff(1, 2))).toMatch(/^1 function changed/);
    expect(significanceSentence(3, diff(1, 2, { samples_before: 0 }))).toMatch(/cannot be told/);
  });
  it('warns of sides that are unlike', () => {
    expect(warnings(diff(1, 2), 'absolute')).toEqual([]);
    expect(warnings(diff(1, 2, { unit: 'bytes' }), 'absolute')[0]).toMatch(/different units/);
    expect(warnings(diff(1, 2, { to_ns: 3 * hour }), 'absolute')[0]).toBe(
      'The ranges differ in length (1 h and 3 h): compare by share to see what changed.',
    );
    expect(warnings(diff(1, 2, { to_ns: 3 * hour }), 'normalized')).toEqual([]);
    expect(warnings(diff(1, 2, { samples_after: 12 }), 'absolute')[0]).toMatch(/selection has only 12 samples/);
  });
});
