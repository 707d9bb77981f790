// What can be chosen at the cursor of a selector, and what choosing does to the text. Lists of types, labels and values
// come from the server; sorting them out needs no server.
import { formatSelector, parseSelector } from '../state/selector';
import { compareWords, shortWords } from '../text/profile_types';
import { profileTypes } from '../text/profile_types.gen';
import type { Place } from './selector_tokens';

export interface Suggestion {
  label: string; // what is shown
  detail?: string;
  text: string; // the text with it chosen
  cursor: number; // and where the cursor stands then
}

export interface TypeEntry {
  word: string; // as a selector takes it
  detail: string;
}

const most = 50;

const operators: [string, string][] = [
  ['=', 'is'],
  ['!=', 'is not'],
  ['=~', 'matches the expression'],
  ['!~', 'does not match the expression'],
];

const isExpression = (operator: string) => operator.endsWith('~');

// The part of a value that is being typed: in an expression, what is after the last "|".
export function typedPart(place: Extract<Place, { kind: 'value' }>): string {
  if (!isExpression(place.operator)) return plain(place.typed);
  return plainExpression(plain(place.typed.slice(place.typed.lastIndexOf('|') + 1)));
}

const plain = (text: string) => text.replace(/\\(.)/gs, '$1');
const quoted = (text: string) => text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n');
const plainExpression = (text: string) => text.replace(/\\(.)/gs, '$1');
const quoteExpression = (text: string) => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');

// Those that start so first, then those that have it inside.
export function narrow<T>(list: readonly T[], typed: string, textOf: (entry: T) => string): T[] {
  const wanted = typed.toLowerCase();
  const starts: T[] = [];
  const holds: T[] = [];
  for (const entry of list) {
    const at = textOf(entry).toLowerCase().indexOf(wanted);
    if (at === 0) starts.push(entry);
    else if (at > 0) holds.push(entry);
  }
  return [...starts, ...holds].slice(0, most);
}

function replaced(text: string, place: Place, insert: string, back = 0): { text: string; cursor: number } {
  return {
    text: text.slice(0, place.from) + insert + text.slice(place.to),
    cursor: place.from + insert.length - back,
  };
}

// What stands right after the place, spaces aside.
const following = (text: string, place: Place) => text.slice(place.to).trimStart()[0] ?? '';

export function suggestTypes(text: string, place: Place, types: readonly TypeEntry[]): Suggestion[] {
  return narrow(types, place.typed, (type) => type.word).map((type) => {
    const hasBrace = following(text, place) === '{';
    const change = replaced(text, place, hasBrace ? type.word : `${type.word}{}`, hasBrace ? 0 : 1);
    return { label: type.word, detail: type.detail, ...change };
  });
}

export function suggestNames(
  text: string,
  place: Extract<Place, { kind: 'name' }>,
  names: readonly string[],
): Suggestion[] {
  // Those of the store itself last: people look for their own.
  const inner = (name: string) => (name.startsWith('__') ? 1 : 0);
  const sorted = names.toSorted((a, b) => inner(a) - inner(b));
  return narrow(sorted, place.typed, (name) => name).map((name) => {
    if (place.followed) return { label: name, ...replaced(text, place, name) };
    // The next matcher wants its comma.
    const follows = following(text, place);
    const comma = follows && follows !== '}' && follows !== ',' ? ', ' : '';
    return { label: name, ...replaced(text, place, `${name}=""${comma}`, 1 + comma.length) };
  });
}

export function suggestOperators(text: string, place: Extract<Place, { kind: 'operator' }>): Suggestion[] {
  return operators
    .filter(([operator]) => operator.startsWith(place.typed))
    .map(([operator, detail]) => ({
      label: operator,
      detail,
      ...(place.followed ? replaced(text, place, operator) : replaced(text, place, `${operator}""`, 1)),
    }));
}

export function suggestValues(
  text: string,
  place: Extract<Place, { kind: 'value' }>,
  values: readonly string[],
): Suggestion[] {
  const expression = isExpression(place.operator);
  const kept = expression ? place.typed.slice(0, place.typed.lastIndexOf('|') + 1) : '';
  return narrow(values, typedPart(place), (value) => value).map((value) => ({
    label: value,
    ...replaced(text, place, `"${kept}${quoted(expression ? quoteExpression(value) : value)}"`),
  }));
}

export function suggestNext(text: string, place: Extract<Place, { kind: 'next' }>): Suggestion[] {
  if (place.needs === 'open') {
    return [{ label: '{', detail: 'labels', ...replaced(text, place, '{}', 1) }];
  }
  if (place.needs === 'inside') {
    // A click into the field ends up behind the brace: from there, too, the next label is one step away.
    const close = text.lastIndexOf('}', place.from);
    const before = text.slice(0, close).trimEnd();
    const start = before.endsWith('{') || before.endsWith(',') ? before : `${before}, `;
    return [{ label: 'another label', text: start + text.slice(close), cursor: start.length }];
  }
  const list = [{ label: ',', detail: 'another label', ...replaced(text, place, ', ') }];
  if (following(text, place) !== '}') list.push({ label: '}', detail: 'the end', ...replaced(text, place, '}') });
  return list;
}

// The selector without the matcher that is being typed: what narrows the lists.
export function restOf(text: string, place: Place): string {
  const { type, matchers } = parseSelector(text);
  const label = place.kind === 'value' ? place.name : '';
  const others = matchers.filter((matcher) => matcher.name !== label && isWhole(matcher.value));
  return formatSelector({ type: place.kind === 'type' ? '' : type, matchers: others });
}

// An empty value is one that is about to be typed.
const isWhole = (value: string) => value !== '';

export interface ProfileTypeRow {
  id: string;
  name: string;
  type: string;
  unit: string;
  temporality?: string;
}

// For the list of types: the short words that the server takes, where they are clear; else the five-part id.
export function typeEntries(types: readonly ProfileTypeRow[]): TypeEntry[] {
  const words = new Map<string, string>(); // id → word
  for (const word of shortWords) {
    for (const row of profileTypes.filter((row) => row.word === word)) {
      // What several words may mean ("delay") is clear in the family of that name only.
      const isShared = profileTypes.some((other) => other.type === row.type && other.word && other.word !== word);
      const found = types.filter((type) => type.type === row.type && (!isShared || type.name === word));
      if (found.length === 1) words.set(found[0].id, word);
      if (found.length > 0) break;
    }
  }
  const entry = (type: ProfileTypeRow): TypeEntry => {
    const word = words.get(type.id);
    return { word: word ?? type.id, detail: word ? `${type.type}, ${type.unit}` : '' };
  };
  return types.map(entry).sort((a, b) => compareWords(a.word, b.word));
}
