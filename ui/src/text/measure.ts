// How weights of an answer are said. A comparison has three ways: as a rate of one instance, as they are, or as shares. The
// server has scaled the baseline so that both sides stand for the time, or the total, of the selection.
import type { AnswerHeader, Scaled } from '../api/types';
import { formatRate, formatShare, formatValue } from './format';

export interface Measure {
  value(weight: number): string;
  change(weight: number): string; // with a sign
  of: string; // what the values are, for titles: "per instance"; empty where the unit says it
}

type Header = Pick<AnswerHeader, 'type' | 'unit'> & Partial<AnswerHeader> & Scaled & { total_after?: number };

function signed(weight: number, text: (size: number) => string): string {
  return weight === 0 ? '±0' : (weight > 0 ? '+' : '−') + text(Math.abs(weight));
}

export function plainMeasure(unit: string): Measure {
  const value = (weight: number) => formatValue(weight, unit);
  return { value, change: (weight) => signed(weight, value), of: '' };
}

export function measureOf(header: Header): Measure {
  const { unit, type, duration_ns = 0, temporality } = header;
  const whole = header.total_after ?? header.total ?? 0;
  if (header.scale === 'normalized' && whole > 0) {
    const value = (weight: number) => formatShare(weight, whole);
    // Percentage points: "+2 %" of a share could mean either.
    return { value, change: (weight) => signed(weight, (size) => value(size).replace('%', 'pp')), of: 'of the total' };
  }
  // An amount at a moment is an average already.
  if (header.scale !== 'rate' || temporality === 'instant' || duration_ns <= 0) return plainMeasure(unit);
  const value = (weight: number) => formatRate((weight * 1e9) / duration_ns, unit, type);
  return { value, change: (weight) => signed(weight, value), of: 'per instance' };
}
