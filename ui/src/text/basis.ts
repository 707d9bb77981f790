// What an answer rests on, in words: how much of the range has data, from how many instances and samples.
import type { AnswerHeader } from '../api/types';
import { formatCount, formatRate, formatSpan, formatValue } from './format';

type Average = Pick<AnswerHeader, 'type' | 'unit' | 'total' | 'temporality' | 'covered_ns'>;

const nearlyAll = 0.95;
const many = (count: number, one: string) => `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`;

// "2.62 cores": of the time that has data, however long the range is. Undefined where no time is known.
export function averageOf(header: Average): string | undefined {
  if (header.temporality === 'instant') return formatValue(header.total, header.unit);
  if (!(header.covered_ns > 0)) return undefined;
  return formatRate((header.total * 1e9) / header.covered_ns, header.unit, header.type);
}

// "8 min of data (of 1 h)"; empty where no time is known.
export function coveredText(covered: number, range: number): string {
  if (!(covered > 0)) return '';
  const text = `${formatSpan(covered)} of data`;
  return range > 0 && covered < nearlyAll * range ? `${text} (of ${formatSpan(range)})` : text;
}

// "3 instances"; one decimal where they came and went.
export function instancesText(instances: number | null): string {
  if (!instances || instances < 0) return '';
  const whole = Math.round(instances);
  if (whole > 0 && Math.abs(instances - whole) <= 0.05 * whole) return many(whole, 'instance');
  return `${instances.toFixed(1)} instances`;
}

// "12,345 samples from 180 profiles"; "180 profiles, samples not known"
export function countsText(header: Pick<AnswerHeader, 'samples' | 'profiles'>): string {
  const profiles = many(header.profiles, 'profile');
  if (typeof header.samples === 'number') return `${many(header.samples, 'sample')} from ${profiles}`;
  return `${profiles}, samples not known`;
}

// " · 12,345 samples" behind other figures of an answer; empty where there is none yet.
export function samplesNote(header: { samples?: number | null } | undefined): string {
  if (header?.samples === null) return ' · samples not known';
  return typeof header?.samples === 'number' ? ` · ${many(header.samples, 'sample')}` : '';
}

// "23 min × 3 instances · 12,345 samples", of a side of a comparison.
export function sideText(header: AnswerHeader): string {
  const time = header.covered_ns > 0 ? formatSpan(header.covered_ns) : '';
  const basis = [time, instancesText(header.instances)].filter(Boolean).join(' × ');
  return [basis, countsText(header)].filter(Boolean).join(' · ');
}
