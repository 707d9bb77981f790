// Ranges in words, and the local times that people type into the fields.
import type { Source } from '../state/state';
import { isRelative, resolveRange, resolveTime } from '../state/time';
import { formatTime } from '../text/format';

export const presets: [word: string, title: string][] = [
  ['now-5m', 'Last 5 minutes'],
  ['now-15m', 'Last 15 minutes'],
  ['now-30m', 'Last 30 minutes'],
  ['now-1h', 'Last hour'],
  ['now-3h', 'Last 3 hours'],
  ['now-6h', 'Last 6 hours'],
  ['now-12h', 'Last 12 hours'],
  ['now-1d', 'Last day'],
  ['now-2d', 'Last 2 days'],
  ['now-7d', 'Last 7 days'],
  ['now-30d', 'Last 30 days'],
];

type Words = Pick<Source, 'from' | 'to'>;

const sameDay = (a: number, b: number) => new Date(a).toDateString() === new Date(b).toDateString();

// "Last hour", "2026-11-15 14:00:00 – 15:00:00"
export function rangeTitle(source: Words, now: number): string {
  if (source.to === 'now') {
    const preset = presets.find(([word]) => word === source.from);
    if (preset) return preset[1];
    const relative = /^now-(\S+)$/.exec(source.from);
    if (relative) return `Last ${relative[1]}`;
  }
  if (isRelative(source) && source.from.startsWith('now-') && source.to.startsWith('now-')) {
    return `${source.from.slice(4)} to ${source.to.slice(4)} ago`;
  }
  const { from, to } = resolveRange(source, now);
  const end = formatTime(to);
  return `${formatTime(from)} – ${sameDay(from, to) ? end.slice(11) : end}`;
}

// "2026-11-15 14:30:00" in local time, or any word that the server knows. Undefined when it is no time.
export function readTime(text: string, now: number): string | undefined {
  const trimmed = text.trim();
  const local = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(trimmed);
  if (local) {
    const [, year, month, day, hour = '0', minute = '0', second = '0'] = local;
    const date = new Date(+year, +month - 1, +day, +hour, +minute, +second);
    // 31 February is no date, though the browser makes one of it.
    if (date.getMonth() !== +month - 1 || date.getDate() !== +day || +minute > 59 || +second > 59 || +hour > 23) {
      return undefined;
    }
    return String(date.getTime());
  }
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(trimmed);
  if (clock) {
    const date = new Date(now);
    if (+clock[1] > 23 || +clock[2] > 59 || +(clock[3] ?? 0) > 59) return undefined;
    date.setHours(+clock[1], +clock[2], +(clock[3] ?? 0), 0);
    return String(date.getTime());
  }
  const word = trimmed.toLowerCase();
  if (/^(now)?(-\d+(\.\d+)?(ms|s|m|h|d|w))?$/.test(word) && word) return word.startsWith('-') ? `now${word}` : word;
  const time = /^\d{10,15}$|T/.test(trimmed) ? resolveTime(trimmed, now) : undefined;
  if (time === undefined) return undefined;
  // Ten digits are Unix seconds.
  return String(/^\d{10}$/.test(trimmed) ? time * 1000 : Math.round(time));
}

// What the field shows for a time: words stay words.
export function showTime(word: string): string {
  const digits = /^\d{12,15}$/.test(word);
  if (digits) return formatTime(Number(word));
  return word;
}

export type RangeCheck = { words: Words } | { error: string; field: 'from' | 'to' };

export function checkRange(from: string, to: string, now: number): RangeCheck {
  const start = readTime(from, now);
  if (start === undefined) return { error: 'Not a time: try 2026-11-15 14:30:00, 14:30 or now-1h', field: 'from' };
  const end = readTime(to, now);
  if (end === undefined) return { error: 'Not a time: try 2026-11-15 15:30:00, 15:30 or now', field: 'to' };
  if (resolveTime(start, now)! >= resolveTime(end, now)!)
    return { error: 'The end is not after the start', field: 'to' };
  return { words: { from: start, to: end } };
}
