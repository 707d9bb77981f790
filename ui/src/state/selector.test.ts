import { describe, expect, it } from 'vitest';
import { formatSelector, labelValue, parseSelector, withMatcher, withoutLabel, withType } from './selector';

describe('selectors', () => {
  it('are read and written', () => {
    const text = 'cpu{service_name="a\\"b\\\\c", pod!~"x.*"}';
    expect(parseSelector(text)).toEqual({
      type: 'cpu',
      matchers: [
        { name: 'service_name', operator: '=', value: 'a"b\\c' },
        { name: 'pod', operator: '!~', value: 'x.*' },
      ],
    });
    expect(formatSelector(parseSelector(text))).toBe(text);
  });

  it('may have other quotes', () => {
    const values = parseSelector("cpu{a='it\\'s', b=~`\\d+`}").matchers.map((matcher) => matcher.value);
    expect(values).toEqual(["it's", '\\d+']);
  });

  it('are read as far as they go', () => {
    expect(parseSelector('cpu{a="b", c').matchers).toHaveLength(1);
    expect(parseSelector('cpu')).toEqual({ type: 'cpu', matchers: [] });
  });

  it('take one more matcher', () => {
    expect(withMatcher('cpu{a="1"}', { name: 'a', operator: '=', value: '2' })).toBe('cpu{a="2"}');
    expect(withMatcher('cpu{a!="1"}', { name: 'a', operator: '!=', value: '2' })).toBe('cpu{a!="1", a!="2"}');
    expect(withMatcher('cpu{a="1"}', { name: 'a', operator: '!=', value: '2' })).toBe('cpu{a!="2"}');
  });

  it('change in parts', () => {
    expect(withoutLabel('cpu{a="1", b="2"}', 'a')).toBe('cpu{b="2"}');
    expect(withType('cpu{a="1"}', 'wall')).toBe('wall{a="1"}');
    expect(labelValue('cpu{a="1"}', 'a')).toBe('1');
    expect(labelValue('cpu{a=~"1"}', 'a')).toBe('');
  });
});
