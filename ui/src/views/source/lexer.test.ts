import { describe, expect, it } from 'vitest';
import { type Left, languageOf, lexLine } from './lexer';

const lex = (file: string, ...lines: string[]) => {
  let left: Left = null;
  return lines.map((line) => {
    const result = lexLine(line, languageOf(file), left);
    left = result.left;
    return result.tokens;
  });
};
const marked = (file: string, ...lines: string[]) =>
  lex(file, ...lines).map((tokens) =>
    tokens.filter(({ kind }) => kind !== 'text').map(({ kind, text }) => `${kind[0]}:${text}`),
  );

describe('the lexer', () => {
  it('finds keywords, strings, numbers and comments', () => {
    expect(marked('a.cc', 'return x1 + 0x1F; // "done"')).toEqual([['k:return', 'n:0x1F', 'c:// "done"']]);
    expect(marked('a.cc', String.raw`f("a\"b", 'c')`)).toEqual([[String.raw`s:"a\"b"`, "s:'c'"]]);
  });
  it('carries comments and long strings over lines', () => {
    expect(marked('a.c', '/* one', 'two */ int x;')).toEqual([['c:/* one'], ['c:two */', 'k:int']]);
    expect(marked('a.py', 'x = """a', 'b""" # c')).toEqual([['s:"""a'], ['s:b"""', 'c:# c']]);
    expect(marked('a.go', 'x := `a', 'b` + 1')).toEqual([['s:`a'], ['s:b`', 'n:1']]);
  });
  it('knows nested comments and lifetimes of Rust', () => {
    expect(marked('a.rs', '/* a /* b */ c */ fn')).toEqual([['c:/* a /* b */ c */', 'k:fn']]);
    expect(marked('a.rs', "impl<'a> X")).toEqual([['k:impl']]);
  });
  it('closes what a line left open by mistake', () => {
    expect(marked('a.java', 'String s = "open', 'int x;')).toEqual([['s:"open'], ['k:int']]);
  });
  it('gives back every character of anything', () => {
    let seed = 3;
    const pieces = ['"', "'", '`', '/*', '*/', '//', '#', '\\', '"""', 'if', '12', 'é', '😀', ' ', '\u202e', '<b>'];
    const wrong: string[] = [];
    for (let round = 0; round < 200; ++round) {
      const lines = Array.from({ length: 3 }, () =>
        Array.from({ length: 8 }, () => {
          seed = (seed * 1664525 + 1013904223) >>> 0;
          return pieces[seed % pieces.length];
        }).join(''),
      );
      for (const file of ['a.cc', 'a.py', 'a.go', 'a.rs', 'a.java']) {
        lex(file, ...lines).forEach((tokens, i) => {
          if (tokens.map((token) => token.text).join('') !== lines[i]) wrong.push(`${file}: ${lines[i]}`);
        });
      }
    }
    expect(wrong).toEqual([]);
  });
});
