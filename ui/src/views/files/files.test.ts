import { describe, expect, it } from 'vitest';
import { commonType, type FileType, firstType, orderPair } from './files';

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
