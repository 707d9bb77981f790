import { describe, expect, it } from 'vitest';
import { parseSelector } from '../state/selector';
import {
  narrow,
  restOf,
  suggestNames,
  suggestNext,
  suggestOperators,
  suggestTypes,
  suggestValues,
  typedPart,
  typeEntries,
} from './selector_suggest';
import { offsetOfColumn, type Place, placeAt, tokenize } from './selector_tokens';

// "cpu{a=|" with the cursor at the bar.
function at(marked: string): { text: string; place: Place } {
  const cursor = marked.indexOf('¦');
  const text = marked.replace('¦', '');
  return { text, place: placeAt(text, cursor) };
}
const shown = ({ text, cursor }: { text: string; cursor: number }) => `${text.slice(0, cursor)}¦${text.slice(cursor)}`;

describe('pieces of a selector', () => {
  it('are told apart', () => {
    expect(tokenize('cpu{a="x", b!~`y`}').map((token) => token.kind)).toEqual(
      'type open name operator value comma space name operator value close'.split(' '),
    );
  });
  it('keep quotes and escapes together', () => {
    const text = '{a="x\\"}, b", c=\'d';
    const values = tokenize(text).filter((token) => token.kind === 'value');
    expect(values.map((token) => [text.slice(token.from, token.to), token.closed])).toEqual([
      ['"x\\"}, b"', true],
      ["'d", false],
    ]);
  });

  // A small generator with a seed: a failure names the seed, and repeats.
  const pieces = [
    'cpu',
    '{',
    '}',
    '"',
    "'",
    '`',
    '\\',
    ',',
    '=',
    '!',
    '~',
    '=~',
    'a.b',
    ' ',
    '\n',
    'λ',
    '😀',
    ':',
    '\u202e',
    '1',
  ];
  function anyText(seed: number) {
    let state = seed * 2654435761 + 1;
    const next = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    return Array.from({ length: Math.floor(next() * 12) }, () => pieces[Math.floor(next() * pieces.length)]).join('');
  }

  it('cover every text exactly, and every cursor has a place', () => {
    // Plain comparisons: a hundred thousand expectations would take longer than what they test.
    const wrong: string[] = [];
    const check = (right: boolean, what: string) => {
      if (!right) wrong.push(what);
    };
    for (let seed = 0; seed < 3000; ++seed) {
      const text = anyText(seed);
      let end = 0;
      for (const token of tokenize(text)) {
        check(token.from === end && token.to > token.from, `seed ${seed}: tokens`);
        end = token.to;
      }
      check(end === text.length, `seed ${seed}: end`);
      for (let cursor = 0; cursor <= text.length; ++cursor) {
        const place = placeAt(text, cursor);
        check(place.from <= cursor && cursor <= place.to, `seed ${seed}, cursor ${cursor}: place`);
        for (const suggestion of everything(text, place)) {
          const inside = suggestion.cursor >= 0 && suggestion.cursor <= suggestion.text.length;
          check(inside, `seed ${seed}, cursor ${cursor}: suggestion`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

function everything(text: string, place: Place) {
  switch (place.kind) {
    case 'type':
      return suggestTypes(text, place, [{ word: 'cpu', detail: '' }]);
    case 'name':
      return suggestNames(text, place, ['pod']);
    case 'operator':
      return suggestOperators(text, place);
    case 'value':
      return suggestValues(text, place, ['x"y']);
    case 'next':
      return suggestNext(text, place);
    default:
      return [];
  }
}

describe('suggestions', () => {
  it('know where the cursor is', () => {
    const kinds = [
      '¦',
      'c¦',
      'cpu¦{',
      'cpu{¦',
      'cpu{¦}',
      'cpu{se¦',
      'cpu{a ¦',
      'cpu{a=¦',
      'cpu{a="¦',
      'cpu{a="b"¦',
      'cpu{a="b",¦',
      'cpu{a="b"}¦',
      'cpu ¦',
    ];
    expect(kinds.map((marked) => at(marked).place.kind)).toEqual([
      'type',
      'type',
      'type',
      'name',
      'name',
      'name',
      'operator',
      'value',
      'value',
      'next',
      'name',
      'next',
      'next',
    ]);
  });
  it('know the label of a value', () => {
    expect(at('cpu{a="1", pod =~ "w¦eb"}').place).toMatchObject({
      kind: 'value',
      name: 'pod',
      operator: '=~',
      typed: 'w',
    });
  });
  it('begin a selector with its type', () => {
    const { text, place } = at('c¦');
    expect(suggestTypes(text, place, [{ word: 'cpu', detail: '' }]).map(shown)).toEqual(['cpu{¦}']);
    const before = at('w¦{a="1"}');
    expect(suggestTypes(before.text, before.place, [{ word: 'wall', detail: '' }]).map(shown)).toEqual([
      'wall¦{a="1"}',
    ]);
  });
  it('lead from a name to its value', () => {
    const { text, place } = at('cpu{ser¦}');
    if (place.kind !== 'name') throw new Error(place.kind);
    expect(suggestNames(text, place, ['pod', 'service_name']).map(shown)).toEqual(['cpu{service_name="¦"}']);
  });
  it('have names of the store itself last', () => {
    const { text, place } = at('cpu{¦}');
    if (place.kind !== 'name') throw new Error(place.kind);
    expect(suggestNames(text, place, ['__name__', 'pod']).map(({ label }) => label)).toEqual(['pod', '__name__']);
  });
  it('leave the operator alone when a name is changed', () => {
    const { text, place } = at('cpu{po¦=~"x"}');
    if (place.kind !== 'name') throw new Error(place.kind);
    expect(suggestNames(text, place, ['pod']).map(shown)).toEqual(['cpu{pod¦=~"x"}']);
  });
  it('put a comma before the next matcher', () => {
    const { text, place } = at('cpu{¦ "x"}');
    if (place.kind !== 'name') throw new Error(place.kind);
    expect(suggestNames(text, place, ['pod']).map(shown)).toEqual(['cpu{pod="¦",  "x"}']);
  });
  it('offer operators', () => {
    const { text, place } = at('cpu{a !¦');
    if (place.kind !== 'operator') throw new Error(place.kind);
    expect(suggestOperators(text, place).map(shown)).toEqual(['cpu{a !="¦"', 'cpu{a !~"¦"']);
  });
  it('quote values', () => {
    const { text, place } = at('cpu{a="x¦"}');
    if (place.kind !== 'value') throw new Error(place.kind);
    const [suggestion] = suggestValues(text, place, ['x"y\\z']);
    expect(shown(suggestion)).toBe('cpu{a="x\\"y\\\\z"¦}');
    expect(parseSelector(suggestion.text).matchers[0].value).toBe('x"y\\z');
  });
  it('add one more value to an expression', () => {
    const { text, place } = at('cpu{pod=~"web-1|w¦"}');
    if (place.kind !== 'value') throw new Error(place.kind);
    expect(typedPart(place)).toBe('w');
    expect(suggestValues(text, place, ['w.2']).map(shown)).toEqual(['cpu{pod=~"web-1|w\\\\.2"¦}']);
  });
  it('lead back inside from behind the brace', () => {
    for (const [marked, wanted] of [
      ['cpu{}¦', 'cpu{¦}'],
      ['cpu{a="1"} ¦', 'cpu{a="1", ¦} '],
    ]) {
      const { text, place } = at(marked);
      if (place.kind !== 'next') throw new Error(place.kind);
      expect(suggestNext(text, place).map(shown)).toEqual([wanted]);
    }
  });
  it('close what is open', () => {
    const { text, place } = at('cpu{a="1"¦');
    if (place.kind !== 'next') throw new Error(place.kind);
    expect(suggestNext(text, place).map(shown)).toEqual(['cpu{a="1", ¦', 'cpu{a="1"}¦']);
  });
  it('put what starts so before what only has it inside', () => {
    expect(narrow(['my_pod', 'pod', 'podium', 'x'], 'POD', (name) => name)).toEqual(['pod', 'podium', 'my_pod']);
  });
  it('are narrowed by the rest of the selector', () => {
    const { text, place } = at('cpu{a="1", b="x¦", c="3"}');
    expect(restOf(text, place)).toBe('cpu{a="1", c="3"}');
    expect(restOf('cpu{b=""}', at('cpu{b="¦"}').place)).toBe('cpu{}');
  });
});

describe('types', () => {
  const type = (id: string) => {
    const [name, kind, unit] = id.split(':');
    return { id, name, type: kind, unit };
  };
  it('have short words where these are clear', () => {
    const entries = typeEntries([
      type('memory:inuse_space:bytes:space:bytes'),
      type('process_cpu:cpu:nanoseconds:cpu:nanoseconds'),
      type('mutex:delay:nanoseconds::'),
      type('x:odd:count::'),
    ]);
    expect(entries.map(({ word }) => word)).toEqual(['cpu', 'inuse', 'mutex', 'x:odd:count::']);
  });
  it('keep their ids where a word would mean two', () => {
    const ids = ['a:cpu:nanoseconds:cpu:nanoseconds', 'b:cpu:nanoseconds:cpu:nanoseconds'];
    expect(typeEntries(ids.map(type)).map(({ word }) => word)).toEqual(ids);
  });
});

describe('a selector', () => {
  it('counts columns in characters', () => {
    expect(offsetOfColumn('{a="😀"}x', 7)).toBe(7);
    expect(offsetOfColumn('abc', 1)).toBe(0);
  });
});
