import { describe, expect, it } from 'vitest';
import { matchOf, serverExpression } from './match';

describe('a search', () => {
  it('without slashes is a substring in any case, whatever its characters', () => {
    const match = matchOf('vector<int>::operator[](');
    expect(match.test('std::Vector<int>::operator[](unsigned long)')).toBe(true);
    expect(match.test('std::vector<long>::size()')).toBe(false);
  });
  it('between slashes is an expression with its flags', () => {
    expect(matchOf('/^Main/i').test('main.run')).toBe(true);
    expect(matchOf('/^Main/').test('main.run')).toBe(false);
  });
  it('gives the same answer each time, also with g', () => {
    const match = matchOf('/a/g');
    expect([match.test('a'), match.test('a'), match.test('a')]).toEqual([true, true, true]);
  });
  it('that is no expression says why and finds nothing', () => {
    const match = matchOf('/(/');
    expect(match.error).not.toBe('');
    expect(match.test('(')).toBe(false);
  });
  it('of blanks finds everything', () => {
    expect(matchOf('  ').empty).toBe(true);
    expect(matchOf('').test('x')).toBe(true);
  });
  it('is said to the server in its own syntax', () => {
    expect(serverExpression('a.b(')).toBe('(?i)a\\.b\\(');
    expect(serverExpression('/^a.b/gi')).toBe('(?i)^a.b');
    expect(serverExpression('/^a/')).toBe('^a');
    expect(serverExpression('')).toBe('');
  });
});
