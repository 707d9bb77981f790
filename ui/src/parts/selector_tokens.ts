// A selector in pieces, however unfinished it is: cpu{service_name="x", pod=~"y.*"}. Every character belongs to exactly
// one token, whatever was typed. The server has the grammar; this one only has to know where the cursor is.
export type TokenKind = 'space' | 'type' | 'open' | 'close' | 'name' | 'operator' | 'value' | 'comma' | 'bad';
export interface Token {
  kind: TokenKind;
  from: number;
  to: number;
  closed?: boolean; // of a value: whether its quote ends
}

const isSpace = (c: string) => c === ' ' || c === '\t' || c === '\n' || c === '\r';
const isType = (c: string) => /[\w.:\-/*]/.test(c);
const isName = (c: string) => /[\w.]/.test(c);
const isQuote = (c: string) => c === '"' || c === "'" || c === '`';

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let inside = false; // of the braces
  let wantsValue = false; // after an operator
  const push = (kind: TokenKind, to: number, closed?: boolean) => {
    tokens.push(closed === undefined ? { kind, from: at, to } : { kind, from: at, to, closed });
    at = to;
  };
  const run = (test: (c: string) => boolean) => {
    let to = at + 1;
    while (to < text.length && test(text[to])) ++to;
    return to;
  };
  const string = () => {
    const quote = text[at];
    let to = at + 1;
    while (to < text.length && text[to] !== quote) to += text[to] === '\\' && quote !== '`' ? 2 : 1;
    const closed = to < text.length;
    push('value', closed ? to + 1 : text.length, closed);
  };
  while (at < text.length) {
    const c = text[at];
    if (isSpace(c)) push('space', run(isSpace));
    else if (!inside) {
      if (c === '{') {
        push('open', at + 1);
        inside = true;
      } else if (isType(c)) push('type', run(isType));
      else push('bad', at + 1);
    } else if (isQuote(c)) {
      string();
      wantsValue = false;
    } else if (c === '}') {
      push('close', at + 1);
      inside = false;
      wantsValue = false;
    } else if (c === ',') {
      push('comma', at + 1);
      wantsValue = false;
    } else if (c === '=' || c === '!') {
      const two = text[at + 1] === '~' || (c === '!' && text[at + 1] === '=');
      push('operator', at + (two ? 2 : 1));
      wantsValue = true;
    } else if (wantsValue && isName(c)) {
      // A value without its quotes, as people type it first.
      push('value', run(isName), false);
      wantsValue = false;
    } else if (isName(c)) push('name', run(isName));
    else push('bad', at + 1);
  }
  return tokens;
}

export type Place =
  | { kind: 'type'; from: number; to: number; typed: string }
  | { kind: 'name'; from: number; to: number; typed: string; followed: boolean }
  | { kind: 'operator'; from: number; to: number; typed: string; followed: boolean }
  // `typed` is the text of the value before the cursor, without the quote; `from` and `to` take in the quotes.
  | { kind: 'value'; from: number; to: number; typed: string; name: string; operator: string }
  | { kind: 'next'; from: number; to: number; typed: ''; needs: 'comma' | 'open' | 'inside' }
  | { kind: 'nothing'; from: number; to: number; typed: '' };

// What may be typed at the cursor, and which part of the text it would replace.
export function placeAt(text: string, cursor: number): Place {
  const tokens = tokenize(text);
  // The token that the cursor stands in or right after; spaces are between things.
  const index = tokens.findIndex((token) => token.from < cursor && cursor <= token.to);
  const here = index >= 0 ? tokens[index] : undefined;
  const beforeTokens = tokens
    .slice(0, here && here.kind !== 'space' ? index : index + 1)
    .filter((token) => token.kind !== 'space');
  const before = beforeTokens.at(-1);
  const after = tokens.slice(index + 1).find((token) => token.kind !== 'space');
  const wordOf = (token: Token) => text.slice(token.from, token.to);
  const typedIn = (token: Token) => text.slice(token.from, cursor);
  // The label that a value belongs to: the nearest name (and operator) before it.
  const labelOf = (list: Token[]) => {
    const operator = list.at(-1);
    const name = list.at(-2);
    return {
      operator: operator?.kind === 'operator' ? wordOf(operator) : '',
      name: name?.kind === 'name' ? wordOf(name) : '',
    };
  };
  const nothing: Place = { kind: 'nothing', from: cursor, to: cursor, typed: '' };

  switch (here?.kind) {
    case 'type':
      return beforeTokens.length === 0 ? { kind: 'type', from: here.from, to: here.to, typed: typedIn(here) } : nothing;
    case 'name':
      return {
        kind: 'name',
        from: here.from,
        to: here.to,
        typed: typedIn(here),
        followed: after?.kind === 'operator',
      };
    case 'value': {
      const label = labelOf(beforeTokens);
      if (!label.operator) return nothing;
      const quoted = isQuote(text[here.from]);
      // Right after the closing quote the value is done.
      if (here.closed && cursor === here.to) return next(after, cursor);
      const typed = quoted ? text.slice(here.from + 1, cursor) : typedIn(here);
      return { kind: 'value', from: here.from, to: here.to, typed, ...label };
    }
    case 'operator':
      if (cursor < here.to || (after?.kind !== 'value' && wordOf(here) === '!')) {
        return {
          kind: 'operator',
          from: here.from,
          to: here.to,
          typed: typedIn(here),
          followed: after?.kind === 'value',
        };
      }
      break;
    case 'bad':
      return nothing;
  }

  // Between things: what comes before says what may follow.
  const last = here && here.kind !== 'space' ? here : before;
  switch (last?.kind) {
    case undefined:
      return { kind: 'type', from: cursor, to: cursor, typed: '' };
    case 'type':
      return after?.kind === 'open' ? nothing : { kind: 'next', from: cursor, to: cursor, typed: '', needs: 'open' };
    case 'open':
    case 'comma':
      return after?.kind === 'name' || after?.kind === 'operator'
        ? nothing
        : { kind: 'name', from: cursor, to: cursor, typed: '', followed: false };
    case 'name':
      return after?.kind === 'operator'
        ? nothing
        : { kind: 'operator', from: cursor, to: cursor, typed: '', followed: after?.kind === 'value' };
    case 'operator': {
      if (after?.kind === 'value') return nothing;
      const list = here && here.kind !== 'space' ? [...beforeTokens, here] : beforeTokens;
      return { kind: 'value', from: cursor, to: cursor, typed: '', ...labelOf(list) };
    }
    case 'value':
      return next(after, cursor);
    case 'close':
      return after ? nothing : { kind: 'next', from: cursor, to: cursor, typed: '', needs: 'inside' };
    default:
      return nothing;
  }
}

function next(after: Token | undefined, cursor: number): Place {
  if (after?.kind === 'comma') return { kind: 'nothing', from: cursor, to: cursor, typed: '' };
  return { kind: 'next', from: cursor, to: cursor, typed: '', needs: 'comma' };
}

// The server counts characters, the field counts UTF-16 units.
export function offsetOfColumn(text: string, column: number): number {
  return [...text].slice(0, Math.max(0, column - 1)).join('').length;
}
