// Numbers for people: three digits that matter, the unit beside them. The server's base units are nanoseconds, bytes and
// counts.
import { rateWord } from './profile_types';

const steps = (names: string[], factor: number) => names.map((name, power) => ({ name, size: factor ** power }));

const times = [
  { name: 'ns', size: 1 },
  { name: 'µs', size: 1e3 },
  { name: 'ms', size: 1e6 },
  { name: 's', size: 1e9 },
  { name: 'min', size: 60e9 },
  { name: 'h', size: 3600e9 },
  { name: 'd', size: 86400e9 },
];
const sizes = steps(['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], 1024);
const counts = steps(['', 'k', 'M', 'G', 'T', 'P'], 1000);

function scaleOf(unit: string) {
  if (unit === 'nanoseconds') return times;
  if (unit === 'bytes') return sizes;
  return counts;
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

// "1.23 s", "12.3 MiB", "4.56 k"; with `like` in the unit that fits that value, so that those of an axis are alike.
export function formatValue(value: number, unit: string, like = value): string {
  const scale = scaleOf(unit);
  const size = Math.abs(like);
  let step = scale[0];
  // 999.6 would be shown as 1000: the next unit says it better.
  for (const candidate of scale) if (size >= candidate.size * 0.9995) step = candidate;
  const text = digits(value / step.size);
  return step.name ? `${text} ${step.name}` : text;
}

// A length of time in two digits: "8 min", "1.5 h", "58 s"
export function formatSpan(nanoseconds: number): string {
  const step = times.findLast(({ size }) => nanoseconds >= size * 0.995) ?? times[0];
  const value = nanoseconds / step.size;
  return `${value >= 9.95 ? Math.round(value) : Math.round(value * 10) / 10} ${step.name}`;
}

// What a rate per second of the unit is called: CPU time per second is a number of cores. Time spent waiting is not, and
// stays time per second.
export function formatRate(perSecond: number, unit: string, type: string): string {
  const word = rateWord(type, unit);
  if (word) {
    const cores = perSecond / 1e9;
    const size = Math.abs(cores);
    if (size > 0 && size < 0.0001) return `< 0.0001 ${word}`;
    return `${size < 0.1 ? Number(cores.toPrecision(2)) : digits(cores)} ${word}`;
  }
  return `${formatValue(perSecond, unit)}/s`;
}

// "12.3 %"; what is not nothing is never shown as 0.
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (part / whole) * 100;
  if (percent === 0) return '0 %';
  const size = Math.abs(percent);
  if (size < 0.01) return percent < 0 ? '> −0.01 %' : '< 0.01 %';
  return `${size >= 99.95 ? percent.toFixed(0) : size >= 10 ? percent.toFixed(1) : percent.toFixed(2)} %`;
}

// A change against a value before: "+25 %", "new", "gone".
export function formatRelative(before: number, after: number): string {
  if (before === 0) return after === 0 ? '±0 %' : 'new';
  if (after === 0) return 'gone';
  const percent = (after / before - 1) * 100;
  if (Math.abs(percent) < 0.05) return '±0 %';
  const text = Math.abs(percent) >= 10 ? Math.abs(percent).toFixed(0) : Math.abs(percent).toFixed(1);
  return `${percent > 0 ? '+' : '−'}${text} %`;
}

// "12,345". Not by Intl: to make its formatter costs every page about 10 ms before its first picture.
export function formatCount(value: number): string {
  return String(Math.round(value * 1000) / 1000).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

const pad = (value: number) => String(value).padStart(2, '0');

// Local time, as engineers write it: 2026-11-15 14:30:00
export function formatTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(
    date.getMinutes(),
  )}:${pad(date.getSeconds())}`;
}

// "3 min ago", in whole units: nobody counts the seconds of an hour ago
export function formatAgo(milliseconds: number, now: number): string {
  const age = now - milliseconds;
  if (age < 5000) return 'just now';
  const step = times.findLast((candidate) => age * 1e6 >= candidate.size)!;
  return `${Math.floor((age * 1e6) / step.size)} ${step.name} ago`;
}
