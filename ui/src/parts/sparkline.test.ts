import { describe, expect, it } from 'vitest';
import { sparklinePath } from './sparkline';

const numbers = (path: string) => path.match(/-?[\d.]+/g)!.map(Number);

describe('a sparkline', () => {
  it('reaches the top with its largest value and the bottom with nothing', () => {
    expect(sparklinePath([0, 5, 10], 100, 20).line).toBe('M0 19L50 10L100 1');
  });
  it('lies at the bottom when there is nothing', () => {
    expect(sparklinePath([0, 0], 100, 20).line).toBe('M0 19L100 19');
  });
  it('is a line for one value and nothing for none', () => {
    expect(sparklinePath([3], 100, 20).line).toBe('M0 1L100 1');
    expect(sparklinePath([], 100, 20)).toEqual({ line: '', area: '' });
  });
  it('has gaps where nothing is known', () => {
    const { line, area } = sparklinePath([5, 10, null, null, 10], 100, 20);
    expect(line).toBe('M0 10L25 1M87.5 1L100 1');
    expect(area).toBe('M0 10L25 1V20H0ZM87.5 1L100 1V20H87.5Z');
    expect(sparklinePath([null, null], 100, 20).line).toBe('');
  });
  it('stays inside for any values', () => {
    const odd = [Number.NaN, -5, 1e308, 1, Number.POSITIVE_INFINITY, 0.1];
    for (const value of numbers(sparklinePath(odd, 90, 20).line)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(90);
    }
  });
});
