import { describe, expect, it } from 'vitest';
import { colorAt, dark, legendSteps, light, strength } from './palette';

const luminance = (rgb: number[]) => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];

describe('the palette of heat maps', () => {
  it('gets darker on light and lighter on dark, at every step', () => {
    for (let i = 1; i <= 20; ++i) {
      expect(luminance(colorAt(light, i / 20))).toBeLessThan(luminance(colorAt(light, (i - 1) / 20)));
      expect(luminance(colorAt(dark, i / 20))).toBeGreaterThan(luminance(colorAt(dark, (i - 1) / 20)));
    }
  });
  it('shows a single sample beside a peak', () => {
    expect(strength(1, 400)).toBeCloseTo(0.05);
    expect(strength(0, 0)).toBe(0);
  });
  it('has a legend that ends at the most', () => {
    expect(legendSteps(100)).toEqual([4, 16, 36, 64, 100]);
  });
});
