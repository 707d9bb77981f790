import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/client';
import { commonType, type FileType, failureOf, firstType, orderPair } from './files';

const type = (name: string, samples: number): FileType => ({
  profile_type: `x:${name}:count::`,
  name,
  type: name,
  unit: 'count',
  total: 1,
  samples,
});

describe('an opened file', () => {
  it('is first looked at by CPU time, else by what it has most of', () => {
    expect(firstType({ types: [type('alloc', 90), type('cpu', 5)] })).toBe('cpu{}');
    expect(firstType({ types: [type('alloc', 1), type('inuse', 5)] })).toBe('inuse{}');
    expect(firstType({ types: [] })).toBe('{}');
  });
});

describe('a file that could not be opened', () => {
  it('shows what the server said and its hint as they are', () => {
    const error = new ApiError('bad', 'perf.data is not a format that is read', 'run perf script and open its output');
    expect(failureOf('perf.data', error)).toEqual({
      name: 'perf.data',
      message: 'perf.data is not a format that is read',
      hint: 'run perf script and open its output',
    });
  });
  it('keeps marks of direction out of the page', () => {
    expect(failureOf('a\u202Eb', new Error('no\u202E')).name).not.toContain('\u202E');
  });
});

describe('two files', () => {
  it('are compared by a type that both have', () => {
    expect(commonType({ types: [type('cpu', 1), type('wall', 2)] }, { types: [type('wall', 9)] })).toBe('wall{}');
  });
  it('have the older one as the baseline', () => {
    const old = { name: 'z.pb', lastModified: 1 };
    const young = { name: 'a.pb', lastModified: 2 };
    expect(orderPair(young, old)).toMatchObject({ before: old, after: young });
  });
  it('go by name when they are of one age', () => {
    const a = { name: 'a.pb', lastModified: 1 };
    const b = { name: 'b.pb', lastModified: 1 };
    expect(orderPair(b, a)).toMatchObject({ before: a, after: b });
  });
});
