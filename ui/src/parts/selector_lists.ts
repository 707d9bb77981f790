// Lists for the selector field from the server: types, label names, values. Answers are kept for a short while, so that
// moving the cursor to and fro asks once.
import { askJson } from '../api/client';
import type { Source } from '../state/state';
import {
  type ProfileTypeRow,
  restOf,
  type Suggestion,
  suggestNames,
  suggestNext,
  suggestOperators,
  suggestTypes,
  suggestValues,
  typedPart,
  typeEntries,
} from './selector_suggest';
import { placeAt } from './selector_tokens';

const keepFor = 20_000;
const kept = new Map<string, { at: number; answer: Promise<unknown> }>();

function asked<T>(path: string, parameters: URLSearchParams): Promise<T> {
  const key = `${path}?${parameters}`;
  const now = Date.now();
  for (const [old, entry] of kept) if (now - entry.at > keepFor) kept.delete(old);
  let entry = kept.get(key);
  if (!entry) {
    entry = { at: now, answer: askJson<T>(path, parameters) };
    // A failure is not worth keeping.
    entry.answer.catch(() => kept.delete(key));
    kept.set(key, entry);
  }
  return entry.answer as Promise<T>;
}

function rangeOf(source: Source): URLSearchParams {
  return source.file
    ? new URLSearchParams({ file: source.file })
    : new URLSearchParams({ from: source.from, to: source.to });
}

function within(source: Source, query: string): URLSearchParams {
  const parameters = rangeOf(source);
  if (query && query !== '{}') parameters.set('query', query);
  return parameters;
}

// With a query only those of matching series.
export async function listTypes(source: Source, query = ''): Promise<ProfileTypeRow[]> {
  return (await asked<{ types: ProfileTypeRow[] }>('types', within(source, query))).types;
}

export async function listLabels(source: Source, query: string): Promise<string[]> {
  return (await asked<{ labels: string[] }>('labels', within(source, query))).labels;
}

async function listValues(source: Source, query: string, label: string, prefix: string): Promise<string[]> {
  const parameters = within(source, query);
  if (prefix) parameters.set('prefix', prefix);
  parameters.set('limit', '200');
  return (await asked<{ values: string[] }>(`values/${encodeURIComponent(label)}`, parameters)).values;
}

export async function suggestAt(text: string, cursor: number, source: Source): Promise<Suggestion[]> {
  const place = placeAt(text, cursor);
  switch (place.kind) {
    case 'type':
      return suggestTypes(text, place, typeEntries(await listTypes(source)));
    case 'name':
      return suggestNames(text, place, await listLabels(source, restOf(text, place)));
    case 'operator':
      return suggestOperators(text, place);
    case 'value':
      return place.name
        ? suggestValues(text, place, await listValues(source, restOf(text, place), place.name, typedPart(place)))
        : [];
    case 'next':
      return suggestNext(text, place);
    default:
      return [];
  }
}
