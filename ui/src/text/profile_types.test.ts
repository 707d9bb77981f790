import { describe, expect, it } from 'vitest';
import { compareWords, mainType, rateWord } from './profile_types';

describe('profile types', () => {
  it('stand in the order of the table, unknown ones behind them by name', () => {
    expect(['zebra', 'inuse', 'ant', 'cpu', 'alloc'].sort(compareWords)).toEqual([
      'cpu',
      'alloc',
      'inuse',
      'ant',
      'zebra',
    ]);
  });

  it('have a word for their rate only where the table gives one', () => {
    expect(mainType.word).toBe('cpu');
    expect(rateWord('CPU', 'nanoseconds')).toBe('cores');
    expect(rateWord('cpu', 'bytes')).toBe('');
    expect(rateWord('delay', 'nanoseconds')).toBe('');
  });
});
