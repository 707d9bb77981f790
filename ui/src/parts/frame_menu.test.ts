import { describe, expect, it } from 'vitest';
import { binaryPattern, exactPattern, exactText } from './frame_menu';

describe('patterns of frames', () => {
  const names = ['main', 'a.b(*c)[d]{e}^$|f+g?', 'operator\\', 'x y', '関数', 'std::vector<int>::at(int)'];
  it.each(names)('match %s alone', (name) => {
    const expression = new RegExp(exactPattern(name));
    expect(expression.test(name)).toBe(true);
    expect(expression.test(`${name}x`)).toBe(false);
    expect(expression.test(`x${name}`)).toBe(false);
  });

  it.each(names)('say that they stand for %s', (name) => {
    expect(exactText(exactPattern(name))).toBe(name);
  });

  it('of other people are not taken for a name', () => {
    for (const pattern of ['main', '^a.b$', '^(a|b)$', '^\\d$', '^a', 'b$']) expect(exactText(pattern)).toBeUndefined();
  });

  it('of binaries match by the end of the path', () => {
    const expression = new RegExp(binaryPattern('/usr/lib/libc.so.6'));
    expect(
      ['/lib/libc.so.6', 'libc.so.6', '/lib/xlibc.so.6', '/lib/libcxso.6'].map((path) => expression.test(path)),
    ).toEqual([true, true, false, false]);
  });
});
