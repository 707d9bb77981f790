import { describe, expect, it } from 'vitest';
import { encodeColumns } from '../engine/testing/encode';
import { bytesOf, readProfile } from './read_profile';

describe('the profile in a page', () => {
  it('is read with the base64 of the browser, or by hand where it has none', () => {
    const columns = encodeColumns(
      {},
      [{ name: '' }, { name: 'f' }],
      [
        { parent: -1, name: 0, self: 0 },
        { parent: 0, name: 1, self: 5 },
      ],
    );
    const text = btoa(String.fromCharCode(...columns));
    expect(bytesOf(text)).toEqual(columns);
    expect(readProfile(text).after.total[0]).toBe(5);
  });

  it('is an error when it is none', () => {
    expect(() => readProfile('AAAA')).toThrow(/cannot be read/);
  });
});
