import { describe, expect, it } from 'vitest';
import { labelText, packageOf, plainService, shortName } from './names';

const table: [name: string, short: string, kind?: number][] = [
  ['main', 'main'],
  ['void work<int>(std::vector<int, std::allocator<int> > const&)', 'work'],
  ['std::vector<int, std::allocator<int> >::push_back(int&&)', 'std::vector::push_back'],
  [
    'std::__cxx11::basic_string<char>::_M_append[abi:cxx11](char const*, unsigned long)',
    'std::__cxx11::basic_string::_M_append',
  ],
  ['(anonymous namespace)::Reader::next() const', '{anon}::Reader::next'],
  ['shop::(anonymous namespace)::price(int)', 'shop::{anon}::price'],
  ['std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)', 'std::operator<<'],
  ['Thing::operator()(int) const', 'Thing::operator()'],
  ['bool operator==<int>(A<int> const&, A<int> const&)', 'operator=='],
  ['Smart<T>::operator->() const', 'Smart::operator->'],
  ['run()::{lambda(int, char)#2}::operator()(int, char) const', 'run::{lambda#2}::operator()'],
  ['copy_fast(void*, void const*) [clone .cold]', 'copy_fast'],
  ['Foo::~Foo()', 'Foo::~Foo'],
  ['unsigned long hash<std::string>(std::string const&)', 'hash'],
  ['core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef', 'core::ptr::drop_in_place'],
  ['<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend::h0123456789abcdef', 'alloc::vec::Vec::extend', 4],
  ['github.com/acme/shop/cart.(*Store).Add', 'cart.(*Store).Add'],
  ['runtime.mallocgc', 'runtime.mallocgc', 3],
  ['encoding/json.(*decodeState).object', 'json.(*decodeState).object', 3],
  ['slices.SortFunc[go.shape.[]int,go.shape.int]', 'slices.SortFunc', 3],
  ['java/util/concurrent/ThreadPoolExecutor.runWorker', 'ThreadPoolExecutor.runWorker', 5],
  ['java.lang.Thread.run', 'Thread.run'],
  ['com.acme.Cart$Item.<init>', 'Cart$Item.<init>', 5],
  ['entry_SYSCALL_64_after_hwframe', 'entry_SYSCALL_64_after_hwframe', 2],
  ['a < b', 'a < b', 6],
  ['<script>alert(1)</script>', '<script>alert(1)</script>', 7],
];

describe('short names', () => {
  it.each(table)('%s', (name, short, kind = 0) => {
    expect(shortName(name, kind)).toBe(short);
  });

  it('never come out empty, whatever the name', () => {
    for (const name of [
      '()',
      '<>',
      '((((',
      '>>>>',
      'operator',
      ' ',
      'a(',
      '::',
      '<a>::',
      '{lambda',
      'x'.repeat(50_000),
    ]) {
      for (const kind of [0, 1, 3, 4, 5]) expect(shortName(name, kind).length).toBeGreaterThan(0);
    }
  });

  it('cost little for names of hostile length', () => {
    for (const part of ['<', '(', 'operator<', '{lambda(', 'a::', 'decltype(', '/a.b', ' const', 'a/b']) {
      for (const kind of [0, 1, 3, 4, 5]) {
        shortName(part.repeat(20_000), kind);
        packageOf(part.repeat(20_000), kind);
      }
    }
  }, 30_000);
});

describe('packages', () => {
  it('are found in the languages that have them', () => {
    expect(packageOf('void shop::cart::add<int>(int)')).toBe('shop');
    expect(packageOf('github.com/acme/shop/cart.(*Store).Add', 3)).toBe('github.com/acme/shop/cart');
    expect(packageOf('java/util/List.get', 5)).toBe('java.util');
    expect(packageOf('tokio::runtime::task::h0123456789abcdef')).toBe('tokio');
    expect(packageOf('main', 1)).toBe('(none)');
  });
});

describe('names of services', () => {
  it('are shown without what says that they were guessed', () => {
    expect(plainService('unknown_service:java')).toBe('java');
    expect(labelText('unknown_service:ca\u200brt')).toBe('ca‹ZWSP›rt');
    expect(plainService('unknown_service')).toBe('unknown_service');
    expect(plainService('unknown_service:')).toBe('unknown_service:');
    expect(plainService('cpu{service_name="unknown_service:java"}')).toBe('cpu{service_name="unknown_service:java"}');
  });
});

describe('a namespace', () => {
  it('is found in plain names and behind return types alike', () => {
    expect(packageOf('acme::net::Pool<std::string, int>::get(long, char) const')).toBe('acme');
    expect(packageOf('std::string ns::f(int)')).toBe('ns');
    expect(packageOf('void ns::f<int>(a::b)')).toBe('ns');
    expect(packageOf('ns::Type::operator<<(int)')).toBe('ns');
    expect(packageOf('ns::f(int) [clone .cold]')).toBe('ns');
    expect(packageOf('ns::a<b')).toBe('ns');
    expect(packageOf('malloc')).toBe('(none)');
  });
});
