import { describe, expect, it } from 'vitest';
import { movedCursor, scrollToRow, visibleWindow } from './window';

describe('the window on a long table', () => {
  it('has every row that one sees, and few more', () => {
    for (let top = 0; top < 26 * 1000; top += 97) {
      const { first, end } = visibleWindow(top, 600, 26, 1000);
      expect(first * 26).toBeLessThanOrEqual(Math.min(top, 26 * 1000));
      expect(end * 26).toBeGreaterThanOrEqual(Math.min(top + 600, 26 * 1000));
      expect(end - first).toBeLessThan(60);
    }
  });
  it('is empty for no rows', () => {
    expect(visibleWindow(500, 600, 26, 0)).toEqual({ first: 0, end: 0 });
  });
  it('moves the cursor and stays inside', () => {
    expect(movedCursor('ArrowDown', -1, 10, 5)).toBe(0);
    expect(movedCursor('ArrowDown', 9, 10, 5)).toBe(9);
    expect(movedCursor('PageUp', 3, 10, 5)).toBe(0);
    expect(movedCursor('End', 0, 10, 5)).toBe(9);
    expect(movedCursor('x', 0, 10, 5)).toBeUndefined();
    expect(movedCursor('End', 0, 0, 5)).toBeUndefined();
  });
  it('scrolls only as far as needed', () => {
    expect(scrollToRow(0, 100, 260, 26)).toBe(0);
    expect(scrollToRow(5, 100, 260, 26)).toBeUndefined();
    expect(scrollToRow(20, 100, 260, 26)).toBe(21 * 26 - 260);
  });
});
