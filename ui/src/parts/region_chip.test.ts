import { describe, expect, it } from 'vitest';
import { isRegion, regionWords, withoutRegion } from './region_chip';

const source = { query: 'cpu{}', from: 'now-1h', to: 'now', file: '' };

describe('a region in words', () => {
  it('says which rates', () => {
    const words = (more: object) => regionWords({ ...source, ...more }, 'nanoseconds', 'cpu');
    expect(words({ rateMin: '2000000000', rateMax: '3500000000' })).toBe(
      'Only profiles of 2 cores or more, below 3.50 cores',
    );
    expect(words({ rateMax: '3500000000' })).toBe('Only profiles below 3.50 cores');
  });
  it('can be taken away', () => {
    const region = { ...source, rateMin: '1' };
    expect(isRegion(region)).toBe(true);
    expect(withoutRegion(region)).toEqual(source);
    expect(isRegion(source)).toBe(false);
  });
});
