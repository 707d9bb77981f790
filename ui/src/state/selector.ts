// Selectors as the server has them: type{name="value", other=~"expression"}. Forgiving: what is typed half is read as far
// as it goes, so that menus can change a part of it; the server judges whether it is right.
export type Operator = '=' | '!=' | '=~' | '!~';
export interface Matcher {
  name: string;
  operator: Operator;
  value: string;
}
export interface Selector {
  type: string;
  matchers: Matcher[];
}

// The server takes three kinds of quotes; what is written back has double ones.
const token = /\s*([A-Za-z_][\w.]*)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`)\s*,?/sy;

export function parseSelector(text: string): Selector {
  const brace = text.indexOf('{');
  if (brace < 0) return { type: text.trim(), matchers: [] };
  const matchers: Matcher[] = [];
  token.lastIndex = brace + 1;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const value = found[5] ?? unquote(found[3] ?? found[4]);
    matchers.push({ name: found[1], operator: found[2] as Operator, value });
  }
  return { type: text.slice(0, brace).trim(), matchers };
}

function unquote(text: string): string {
  return text.replace(/\\(.)/gs, (_, escaped) => (escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped));
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

export function formatSelector(selector: Selector): string {
  const inner = selector.matchers.map(({ name, operator, value }) => `${name}${operator}${quote(value)}`);
  return `${selector.type}{${inner.join(', ')}}`;
}

// With the matcher in place of those for the same label that it contradicts; an exclusion is added to others.
export function withMatcher(text: string, matcher: Matcher): string {
  const { type, matchers } = parseSelector(text);
  const excludes = matcher.operator.startsWith('!');
  const kept = matchers.filter((other) =>
    excludes
      ? other.name !== matcher.name || (other.operator.startsWith('!') && other.value !== matcher.value)
      : other.name !== matcher.name,
  );
  return formatSelector({ type, matchers: [...kept, matcher] });
}

export function withoutLabel(text: string, name: string): string {
  const { type, matchers } = parseSelector(text);
  return formatSelector({ type, matchers: matchers.filter((matcher) => matcher.name !== name) });
}

export function withType(text: string, type: string): string {
  return formatSelector({ ...parseSelector(text), type });
}

// The value that the label must have; empty when the selector leaves it open.
export function labelValue(text: string, name: string): string {
  return parseSelector(text).matchers.find((matcher) => matcher.name === name && matcher.operator === '=')?.value ?? '';
}
