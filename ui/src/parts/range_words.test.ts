import { describe, expect, it } from 'vitest';
import { checkRange, rangeTitle, readTime, showTime } from './range_words';

const now = new Date(2026, 10, 15, 15, 0, 0).getTime();

describe('times as people type them', () => {
  it('are local', () => {
    const noon = String(new Date(2026, 10, 15, 12, 0, 0).getTime());
    expect(readTime('2026-11-15 12:00', now)).toBe(noon);
    expect(readTime(' 2026-11-15T12:00:00 ', now)).toBe(noon);
    expect(readTime('12:00', now)).toBe(noon);
    expect(showTime(noon)).toBe('2026-11-15 12:00:00');
  });
  it('may be words', () => {
    expect(readTime('now', now)).toBe('now');
    expect(readTime('-90m', now)).toBe('now-90m');
    expect(readTime('NOW-1h', now)).toBe('now-1h');
    expect(showTime('now-1h')).toBe('now-1h');
  });
  it('may be Unix time or RFC 3339', () => {
    expect(readTime('1763200000', now)).toBe('1763200000000');
    expect(readTime('1763200000123', now)).toBe('1763200000123');
    expect(readTime('2026-11-15T11:00:00Z', now)).toBe(String(Date.UTC(2026, 10, 15, 11)));
  });
  it('are refused when they are none', () => {
    for (const text of ['', 'yesterday', '2026-02-31', '25:00', '12:61', '2026-11-15 12', '5', 'now+1h']) {
      expect(readTime(text, now), text).toBeUndefined();
    }
  });
});

describe('a range', () => {
  it('has words for the usual ones', () => {
    expect(rangeTitle({ from: 'now-1h', to: 'now' }, now)).toBe('Last hour');
    expect(rangeTitle({ from: 'now-90m', to: 'now' }, now)).toBe('Last 90m');
    expect(rangeTitle({ from: 'now-2h', to: 'now-1h' }, now)).toBe('2h to 1h ago');
  });
  it('says a day once', () => {
    const from = String(now - 3_600_000);
    expect(rangeTitle({ from, to: String(now) }, now)).toBe('2026-11-15 14:00:00 – 15:00:00');
  });
  it('has its end after its start', () => {
    expect(checkRange('14:00', '13:00', now)).toMatchObject({ field: 'to' });
    expect(checkRange('soon', '13:00', now)).toMatchObject({ field: 'from' });
    expect(checkRange('now-1h', 'now', now)).toEqual({ words: { from: 'now-1h', to: 'now' } });
  });
});
