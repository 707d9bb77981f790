import { describe, expect, it } from 'vitest';
import { clippedText, visibleText } from './safe';

describe('text of others', () => {
  it('shows what would hide or turn it', () => {
    expect(visibleText('a\u0000b\nc\u007f')).toBe('a‹NUL›b‹LF›c‹DEL›');
    expect(visibleText('evil\u202egpj.exe')).toBe('evil‹RLO›gpj.exe');
    expect(visibleText('\u2066x\u2069\u200e\u200f\u0085')).toBe('‹LRI›x‹PDI›‹LRM›‹RLM›‹0085›');
  });

  it('leaves all other writing alone', () => {
    for (const text of ['<b>"&amp;\'', 'прицел', '関数', 'é👍', '']) expect(visibleText(text)).toBe(text);
  });

  it('has no control left, whatever went in', () => {
    let all = '';
    for (let code = 0; code < 0x3000; code++) all += String.fromCharCode(code);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(visibleText(all)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  });

  it('is cut to a length', () => {
    expect(clippedText('abcdef', 4)).toBe('abc…');
    expect(clippedText('abcd', 4)).toBe('abcd');
  });
});
