import { describe, expect, it } from 'vitest';
import { earlierRange, previousRange, resolveRange, resolveTime, shiftRange, spanWord, widenRange } from './time';

const now = Date.UTC(2026, 10, 15, 12);

describe('words for times', () => {
  it('are resolved as the server does', () => {
    expect(resolveTime('now', now)).toBe(now);
    expect(resolveTime('now-1h', now)).toBe(now - 3_600_000);
    expect(resolveTime('-30m', now)).toBe(now - 1_800_000);
    expect(resolveTime('1763200000000', now)).toBe(1763200000000);
    expect(resolveTime('2026-11-15T11:00:00Z', now)).toBe(now - 3_600_000);
    expect(resolveTime('yesterday-ish', now)).toBeUndefined();
  });

  it('shift by the length of the range, not into the future', () => {
    expect(resolveRange(shiftRange({ from: 'now-1h', to: 'now' }, -1, now), now)).toEqual({
      from: now - 7_200_000,
      to: now - 3_600_000,
    });
    expect(resolveRange(shiftRange({ from: 'now-1h', to: 'now' }, 1, now), now)).toEqual({
      from: now - 3_600_000,
      to: now,
    });
  });

  it('widen around the middle', () => {
    const wide = resolveRange(widenRange({ from: 'now-3h', to: 'now-1h' }, now), now);
    expect(wide).toEqual({ from: now - 4 * 3_600_000, to: now });
  });

  it('stay relative in a comparison', () => {
    expect(previousRange({ from: 'now-1h', to: 'now' }, now)).toEqual({ from: 'now-2h', to: 'now-1h' });
    expect(earlierRange({ from: 'now-15m', to: 'now' }, 86_400_000, now)).toEqual({ from: 'now-1455m', to: 'now-1d' });
  });

  it('are said in the largest unit that is exact', () => {
    expect([spanWord(90 * 60_000), spanWord(86_400_000), spanWord(1500)]).toEqual(['90m', '1d', '1500ms']);
  });
});
