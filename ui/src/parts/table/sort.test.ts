import { describe, expect, it } from 'vitest';
import { allRows, filterRows, nextSort, readSort, sortRows, textKeys, writeSort } from './sort';

const sorted = (keys: number[], descending = false) => [
  ...sortRows(allRows(keys.length), Float64Array.from(keys), descending),
];

describe('sorting rows', () => {
  it('agrees with a comparison for any numbers', () => {
    let seed = 7;
    const next = () => {
      seed = (seed * 1664525 + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    for (let round = 0; round < 50; ++round) {
      const keys = Array.from({ length: 200 }, () => (next() < 0.2 ? 0 : (next() - 0.5) * 10 ** (next() * 30 - 10)));
      const expected = keys.map((_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);
      expect(sorted(keys)).toEqual(expected);
      const backwards = keys.map((_, i) => i).sort((a, b) => keys[b] - keys[a] || a - b);
      expect(sorted(keys, true)).toEqual(backwards);
    }
  });
  it('keeps the order of equals, both ways', () => {
    expect(sorted([1, 0, 1, 0, -0])).toEqual([1, 3, 4, 0, 2]);
    expect(sorted([1, 0, 1, 0], true)).toEqual([0, 2, 1, 3]);
  });
  it('puts rows without a value last, both ways', () => {
    expect(sorted([Number.NaN, 2, -1])).toEqual([2, 1, 0]);
    expect(sorted([Number.NaN, 2, -1], true)).toEqual([1, 2, 0]);
  });
  it('sorts a part of the rows', () => {
    const rows = filterRows(5, (row) => row !== 2);
    expect([...sortRows(rows, Float64Array.from([5, 4, 3, 2, 1]), false)]).toEqual([4, 3, 1, 0]);
  });
  it('knows infinities and nothing', () => {
    expect(sorted([Infinity, 1, -Infinity])).toEqual([2, 1, 0]);
    expect(sorted([])).toEqual([]);
  });
  it('of texts goes by place, equals sharing one', () => {
    const keys = textKeys(['b', 'a', 'b', 'B']);
    expect(keys[0]).toBe(keys[2]);
    expect([...sortRows(allRows(4), keys, false)]).toEqual([3, 1, 0, 2]);
  });
});

describe('the sorted column', () => {
  it('is a word of the address', () => {
    expect(readSort('-self')).toEqual({ column: 'self', descending: true });
    expect(writeSort(readSort('name'))).toBe('name');
  });
  it('turns round on the second click', () => {
    expect(nextSort({ column: 'self', descending: true }, 'self', true).descending).toBe(false);
    expect(nextSort({ column: 'self', descending: true }, 'name', false)).toEqual({
      column: 'name',
      descending: false,
    });
  });
});
