import { describe, expect, it } from 'vitest';
import { editorLink, hotPlaces, nextHot, type SourceAnswer, selfWithoutLine, sourceLines } from './source_model';

const answer = (more: Partial<SourceAnswer>): SourceAnswer =>
  ({
    file: 'a.c',
    reachable: true,
    first_line: 10,
    lines: ['a', 'b', 'c'],
    weights: [
      { line: 12, self: 5, total: 9 },
      { line: 40, self: 1, total: 1 },
      { line: 0, self: 7, total: 7 },
    ],
    ...more,
  }) as SourceAnswer;

describe('source lines', () => {
  it('have the weight of their number', () => {
    expect(sourceLines(answer({})).map(({ line, self, total }) => [line, self, total])).toEqual([
      [10, 0, 0],
      [11, 0, 0],
      [12, 5, 9],
    ]);
  });
  it('without a text are those that cost something', () => {
    expect(sourceLines(answer({ reachable: false })).map(({ line }) => line)).toEqual([12, 40]);
  });
  it('that are not known are no lines, but cost', () => {
    expect(selfWithoutLine(answer({}))).toBe(7);
  });
  it('are hot when they make up most of the file', () => {
    const lines = [1, 50, 2, 40, 1].map((self, i) => ({ line: i, text: '', self, total: self }));
    expect(hotPlaces(lines)).toEqual([1, 3]);
    expect(hotPlaces(lines.map((line) => ({ ...line, self: 0, total: 0 })))).toEqual([]);
  });
  it('are visited in turn', () => {
    expect([nextHot([1, 3], -1, 1), nextHot([1, 3], 1, 1), nextHot([1, 3], 3, 1)]).toEqual([1, 3, 1]);
    expect([nextHot([1, 3], 3, -1), nextHot([1, 3], 1, -1), nextHot([], 1, 1)]).toEqual([1, 3, -1]);
  });
});

describe('the link to an editor', () => {
  it('names file and line', () => {
    expect(editorLink('vscode://file/{file}:{line}', '/a b/c#.c', 7)).toBe('vscode://file//a%20b/c#.c:7');
  });
  it('runs nothing', () => {
    expect(editorLink('javascript:alert({line})', 'a', 1)).toBeUndefined();
    expect(editorLink('{file}', 'javascript:alert(1)', 1)).toBeUndefined();
  });
});
