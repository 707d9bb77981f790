import { describe, expect, it } from 'vitest';
import { formatAgo, formatCount, formatRate, formatRelative, formatShare, formatSpan, formatValue } from './format';

describe('numbers for people', () => {
  it('have three digits and a unit', () => {
    expect(formatValue(1_234_000_000, 'nanoseconds')).toBe('1.23 s');
    expect(formatValue(90e9, 'nanoseconds')).toBe('1.50 min');
    expect(formatValue(1536, 'bytes')).toBe('1.50 KiB');
    expect(formatValue(999_700, 'count')).toBe('1.00 M');
    expect(formatValue(0, 'bytes')).toBe('0 B');
    expect(formatValue(-2048, 'bytes')).toBe('-2 KiB');
    expect(formatValue(57.4e9, 'nanoseconds', 90e9)).toBe('0.96 min');
  });
  it('say changes in percent', () => {
    expect(formatRelative(100, 125)).toBe('+25 %');
    expect(formatRelative(0, 5)).toBe('new');
    expect(formatRelative(5, 0)).toBe('gone');
  });
  it('never show something as nothing', () => {
    expect(formatShare(1, 1e9)).toBe('< 0.01 %');
    expect(formatShare(0, 1e9)).toBe('0 %');
    expect(formatShare(1, 3)).toBe('33.3 %');
    expect(formatShare(5, 0)).toBe('–');
  });
  it('call CPU time per second cores', () => {
    expect(formatRate(1.5e9, 'nanoseconds', 'cpu')).toBe('1.50 cores');
    expect(formatRate(4.4e6, 'nanoseconds', 'cpu')).toBe('0.0044 cores');
    expect(formatRate(1, 'nanoseconds', 'cpu')).toBe('< 0.0001 cores');
    expect(formatRate(0, 'nanoseconds', 'cpu')).toBe('0 cores');
    expect(formatRate(2048, 'bytes', 'alloc_space')).toBe('2 KiB/s');
  });
  it('do not call waiting cores', () => {
    expect(formatRate(1.5e9, 'nanoseconds', 'off_cpu')).toBe('1.50 s/s');
  });
  it('say lengths of time in two digits', () => {
    expect(formatSpan(8 * 60e9)).toBe('8 min');
    expect(formatSpan(7.96 * 60e9)).toBe('8 min');
    expect(formatSpan(59.8 * 60e9)).toBe('1 h');
    expect(formatSpan(90 * 60e9)).toBe('1.5 h');
    expect(formatSpan(0)).toBe('0 ns');
  });
  it('say how long ago', () => {
    expect(formatAgo(0, 180_000)).toBe('3 min ago');
    expect(formatAgo(0, 239_000)).toBe('3 min ago');
    expect(formatAgo(0, 3 * 86_400_000)).toBe('3 d ago');
    expect(formatAgo(0, 1000)).toBe('just now');
  });

  it('groups the digits of counts', () => {
    const values = [0, 7, 999, 1000, 12_345, 1_234_567, -45_678, 1234.5678, 0.1234];
    const grouped = new Intl.NumberFormat('en-US');
    expect(values.map(formatCount)).toEqual(values.map((value) => grouped.format(value)));
  });
});
