import { describe, expect, it } from 'vitest';
import { stepText } from '../parts/steps_bar';
import { packageOf } from '../text/names';
import { hideStep } from './legend';

describe('steps of the legend', () => {
  it('hide what an entry stands for', () => {
    expect(new RegExp(hideStep('binary', 'libc.so.6')!.pattern).test('/usr/lib/libc.so.6')).toBe(true);
    expect(new RegExp(hideStep('file', 'a/b.cc')!.pattern).test('a/b.cc')).toBe(true);
    expect(hideStep('binary', '(none)')).toBeUndefined();
    expect(hideStep('self', '≥ 75 %')).toBeUndefined();
  });

  it.each([
    ['void shop::cart::add<int>(int)', 0],
    ['github.com/acme/shop/cart.(*Store).Add', 3],
    ['java/util/List.get', 5],
    ['tokio::runtime::task::h0123456789abcdef', 4],
  ])('hide the package of %s', (name, kind) => {
    const { pattern } = hideStep('package', packageOf(name, kind))!;
    expect(new RegExp(pattern).test(name)).toBe(true);
  });

  it('are said in words', () => {
    expect(stepText({ kind: 'focus', pattern: '^a\\.b$' })).toBe('only through a.b');
    expect(stepText({ kind: 'ignore', pattern: 'a.*' })).toBe('not through /a.*/');
  });
});
