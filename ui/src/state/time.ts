// Words for times: "now", "now-90m", Unix milliseconds. The server resolves the same words; here they are resolved for
// axes, for shifting a range, and to freeze a link.
import type { Source, TimeWord } from './state';

const units: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

export interface Range {
  from: number; // Unix milliseconds
  to: number;
}

// Undefined when it is not a time.
export function resolveTime(word: TimeWord, now: number): number | undefined {
  if (/^\d{1,15}$/.test(word)) return Number(word);
  if (word === 'now') return now;
  const relative = /^(?:now)?-(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(word);
  if (relative) return now - Number(relative[1]) * units[relative[2]];
  const parsed = Date.parse(word);
  return Number.isNaN(parsed) ? undefined : parsed;
}

// An hour where a word makes no sense: the server says what is wrong with it.
export function resolveRange(source: Pick<Source, 'from' | 'to'>, now: number): Range {
  const to = resolveTime(source.to, now) ?? now;
  const from = resolveTime(source.from, now) ?? to - units.h;
  return { from, to };
}

export function isRelative(source: Pick<Source, 'from' | 'to'>): boolean {
  return source.from.startsWith('now') || source.from.startsWith('-') || source.to.startsWith('now');
}

// Whole milliseconds, so that the same words are written again.
export function absolute(range: Range): Pick<Source, 'from' | 'to'> {
  return { from: String(Math.round(range.from)), to: String(Math.round(range.to)) };
}

// "90m" for a length of 90 minutes; the largest unit that says it exactly.
export function spanWord(milliseconds: number): string {
  const whole = Math.max(1, Math.round(milliseconds));
  for (const unit of ['w', 'd', 'h', 'm', 's']) {
    if (whole % units[unit] === 0) return `${whole / units[unit]}${unit}`;
  }
  return `${whole}ms`;
}

// Earlier (-1) or later (+1) by the length of the range. A range that would reach into the future ends now.
export function shiftRange(source: Pick<Source, 'from' | 'to'>, by: number, now: number): Pick<Source, 'from' | 'to'> {
  const { from, to } = resolveRange(source, now);
  const length = to - from;
  const end = Math.min(to + by * length, now);
  return absolute({ from: end - length, to: end });
}

// Twice as long around the same middle, but not into the future.
export function widenRange(source: Pick<Source, 'from' | 'to'>, now: number): Pick<Source, 'from' | 'to'> {
  const { from, to } = resolveRange(source, now);
  const half = (to - from) / 2;
  const end = Math.min(to + half, now);
  return absolute({ from: end - 4 * half, to: end });
}

// The range just before, of the same length.
export function previousRange(source: Pick<Source, 'from' | 'to'>, now: number): Pick<Source, 'from' | 'to'> {
  return earlierRange(source, undefined, now);
}

// The same range `by` milliseconds earlier. Relative words stay relative, so that a live comparison moves along.
export function earlierRange(
  source: Pick<Source, 'from' | 'to'>,
  by: number | undefined,
  now: number,
): Pick<Source, 'from' | 'to'> {
  const { from, to } = resolveRange(source, now);
  const distance = by ?? to - from;
  if (isRelative(source)) {
    const before = (time: number) => (time === now ? 'now' : `now-${spanWord(now - time)}`);
    return { from: before(from - distance), to: before(to - distance) };
  }
  return absolute({ from: from - distance, to: to - distance });
}
