// Just enough of C-like languages, Python, Go, Rust and Java to colour comments, strings, numbers and keywords. Line by
// line, with what a line leaves open (a comment, a long string) carried to the next. All text comes back, in order.
export type TokenKind = 'text' | 'keyword' | 'string' | 'comment' | 'number';
export interface Token {
  kind: TokenKind;
  text: string;
}
export interface Language {
  keywords: ReadonlySet<string>;
  lineComment: string;
  block?: [open: string, close: string];
  nested?: boolean; // comments in comments
  long: string[]; // quotes of strings that go over lines, longest first
  quotes: string;
}
// What a line leaves open: nothing, a comment so deep, or a string until its quote.
export type Left = { comment: number } | { quote: string } | null;

const words = (text: string) => new Set(text.split(' '));
const shared = 'if else for while do switch case default break continue return goto const static struct enum';
const c: Language = {
  keywords: words(
    `${shared} union typedef extern inline volatile register sizeof void char short int long float double signed unsigned bool ` +
      'auto class namespace template typename using public private protected virtual override final new delete this nullptr ' +
      'true false try catch throw operator friend explicit constexpr consteval noexcept static_cast const_cast ' +
      'reinterpret_cast dynamic_cast co_await co_return co_yield concept requires mutable decltype',
  ),
  lineComment: '//',
  block: ['/*', '*/'],
  long: [],
  quotes: `"'`,
};
const java: Language = {
  ...c,
  keywords: words(
    `${shared} class interface extends implements package import public private protected final abstract synchronized volatile ` +
      'transient native new this super null true false try catch finally throw throws instanceof void boolean byte char short ' +
      'int long float double var record sealed permits yield assert fun val when object override is as in let function async await export',
  ),
  long: ['"""', '`'],
};
const go: Language = {
  ...c,
  keywords: words(
    'break case chan const continue default defer else fallthrough for func go goto if import interface map package range ' +
      'return select struct switch type var nil true false iota string int int64 uint64 byte error bool',
  ),
  long: ['`'],
};
const rust: Language = {
  ...c,
  keywords: words(
    'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ' +
      'ref return self Self static struct super trait true type unsafe use where while u8 u16 u32 u64 usize i32 i64 f32 f64 bool str',
  ),
  nested: true,
  quotes: '"',
};
const python: Language = {
  keywords: words(
    'and as assert async await break class continue def del elif else except False finally for from global if import in is ' +
      'lambda None nonlocal not or pass raise return True try while with yield match case self',
  ),
  lineComment: '#',
  long: ['"""', "'''"],
  quotes: `"'`,
};

export function languageOf(file: string): Language {
  const extension = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  if (extension === 'py' || extension === 'pyx' || extension === 'rb') return python;
  if (extension === 'go') return go;
  if (extension === 'rs') return rust;
  if (/^(java|kt|scala|js|jsx|mjs|ts|tsx|cs)$/.test(extension)) return java;
  return c;
}

const word = /[A-Za-z_$][\w$]*/y;
const number = /0[xXbBoO][\da-fA-F_']+|\d[\d_']*(?:\.\d+)?(?:[eE][+-]?\d+)?\w*/y;

export function lexLine(line: string, language: Language, left: Left): { tokens: Token[]; left: Left } {
  const tokens: Token[] = [];
  let at = 0;
  const take = (kind: TokenKind, end: number) => {
    if (end <= at) return;
    const before = tokens[tokens.length - 1];
    if (before?.kind === kind) before.text += line.slice(at, end);
    else tokens.push({ kind, text: line.slice(at, end) });
    at = end;
  };
  // To the end of what is open; what is still open after the line is returned.
  const comment = (depth: number): Left => {
    const [open, close] = language.block!;
    while (at < line.length) {
      if (line.startsWith(close, at)) {
        take('comment', at + close.length);
        if (--depth === 0) return null;
      } else if (language.nested && line.startsWith(open, at)) {
        depth++;
        take('comment', at + open.length);
      } else take('comment', at + 1);
    }
    return { comment: depth };
  };
  const text = (quote: string, isLong: boolean): Left => {
    while (at < line.length) {
      if (line[at] === '\\' && quote !== '`') take('string', Math.min(line.length, at + 2));
      else if (line.startsWith(quote, at)) {
        take('string', at + quote.length);
        return null;
      } else take('string', at + 1);
    }
    return isLong ? { quote } : null;
  };
  let open: Left = left && 'comment' in left ? comment(left.comment) : left ? text(left.quote, true) : null;
  while (at < line.length && !open) {
    const long = language.long.find((quote) => line.startsWith(quote, at));
    word.lastIndex = number.lastIndex = at;
    if (line.startsWith(language.lineComment, at)) take('comment', line.length);
    else if (language.block && line.startsWith(language.block[0], at)) {
      take('comment', at + language.block[0].length);
      open = comment(1);
    } else if (long) {
      take('string', at + long.length);
      open = text(long, true);
    } else if (language.quotes.includes(line[at])) {
      const quote = line[at];
      take('string', at + 1);
      open = text(quote, false);
    } else if (word.test(line))
      take(language.keywords.has(line.slice(at, word.lastIndex)) ? 'keyword' : 'text', word.lastIndex);
    else if (number.test(line)) take('number', number.lastIndex);
    else take('text', at + 1);
  }
  return { tokens, left: open };
}
