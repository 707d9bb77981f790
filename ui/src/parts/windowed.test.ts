import { describe, expect, it } from 'vitest';
import { visibleRows } from './windowed';

describe('a long list', () => {
  it('shows the rows in the window and a few more', () => {
    expect(visibleRows(10_000, 30, 3000, 3600, 10)).toEqual({ first: 90, end: 130 });
  });
  it('never goes past its ends', () => {
    expect(visibleRows(5, 30, -500, 900)).toEqual({ first: 0, end: 5 });
    expect(visibleRows(5, 30, 5000, 5600)).toEqual({ first: 5, end: 5 });
    expect(visibleRows(0, 30, 0, 600)).toEqual({ first: 0, end: 0 });
  });
});
