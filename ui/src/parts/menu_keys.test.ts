import { describe, expect, it } from 'vitest';
import { first, last, place, step, typeAhead } from './menu_keys';

const entries = [
  { title: 'Focus' },
  { title: 'Filter', disabled: true },
  { title: 'Copy name' },
  { title: 'Copy link' },
];

describe('a menu by keyboard', () => {
  it('goes round and passes over what cannot be chosen', () => {
    expect(step(entries, 0, 1)).toBe(2);
    expect(step(entries, 3, 1)).toBe(0);
    expect(step(entries, 0, -1)).toBe(3);
    expect([first(entries), last(entries)]).toEqual([0, 3]);
  });
  it('has nowhere to go when nothing can be chosen', () => {
    expect(step([{ title: 'a', disabled: true }], -1, 1)).toBe(-1);
    expect(first([])).toBe(-1);
  });
  it('walks by first letter and finds by more letters', () => {
    expect(typeAhead(entries, 0, 'c')).toBe(2);
    expect(typeAhead(entries, 2, 'c')).toBe(3);
    expect(typeAhead(entries, 3, 'c')).toBe(2);
    expect(typeAhead(entries, 2, 'copy l')).toBe(3);
    expect(typeAhead(entries, 0, 'x')).toBe(-1);
  });
});

describe('a menu', () => {
  it('stays in the window', () => {
    expect(place(990, 590, 200, 100, 1000, 600)).toEqual({ left: 794, top: 494 });
    expect(place(-5, -5, 200, 100, 1000, 600)).toEqual({ left: 6, top: 6 });
    expect(place(10, 10, 2000, 1000, 1000, 600)).toEqual({ left: 6, top: 6 });
  });
});
