import { describe, expect, it } from 'vitest';
import { measureOf, plainMeasure } from './measure';

const minute = 60e9;
const header = { type: 'cpu', unit: 'nanoseconds', duration_ns: 30 * minute, total_after: 60 * minute };

describe('weights of a comparison', () => {
  it('are rates of one instance', () => {
    const rate = measureOf({ ...header, scale: 'rate' });
    expect(rate.value(60 * minute)).toBe('2 cores');
    expect(rate.change(-3 * minute)).toBe('−0.10 cores');
    expect(rate.change(0)).toBe('±0');
    expect(rate.of).toBe('per instance');
    expect(measureOf({ ...header, type: 'alloc', unit: 'bytes', scale: 'rate' }).value(1800 * 1024)).toBe('1 KiB/s');
  });
  it('are shares in percent, and their changes points of it', () => {
    const share = measureOf({ ...header, scale: 'normalized' });
    expect(share.value(15 * minute)).toBe('25.0 %');
    expect(share.change(-3 * minute)).toBe('−5.00 pp');
  });
  it('say less and no change with their signs', () => {
    expect(plainMeasure('bytes').change(-4096)).toBe('−4 KiB');
    expect(plainMeasure('bytes').change(0)).toBe('±0');
  });
  it('are what they are as totals, of amounts, and where no time is known', () => {
    expect(measureOf({ ...header, scale: 'absolute' }).value(minute)).toBe('1 min');
    expect(measureOf({ ...header, scale: 'rate', temporality: 'instant', unit: 'bytes' }).value(1024)).toBe('1 KiB');
    expect(measureOf({ ...header, scale: 'rate', duration_ns: 0 }).change(minute)).toBe('+1 min');
    expect(measureOf(header).value(minute)).toBe(plainMeasure('nanoseconds').value(minute));
  });
});
