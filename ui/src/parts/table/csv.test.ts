import { describe, expect, it } from 'vitest';
import { csvCell, csvText } from './csv';

describe('CSV', () => {
  it('quotes what would break a row', () => {
    expect(csvCell('f(int, int)')).toBe('"f(int, int)"');
    expect(csvCell('say "hi"')).toBe('"say ""hi"""');
    expect(csvCell('a\nb')).toBe('"a\nb"');
    expect(csvCell('plain')).toBe('plain');
  });
  it('disarms formulas in names', () => {
    for (const name of ['=1+1', '+a', '-x', '@SUM(A1)', '\t=1', ' =1'])
      expect(csvCell(name).replace('"', '')[0]).toBe("'");
    expect(csvCell('=HYPERLINK("http://x")')).toBe('"\'=HYPERLINK(""http://x"")"');
  });
  it('leaves numbers alone, also negative ones', () => {
    expect(csvCell(-5)).toBe('-5');
    expect(csvCell(Number.NaN)).toBe('');
  });
  it('has a heading and ends each row', () => {
    expect(csvText(['self', 'name'], [[1, 'a']])).toBe('self,name\r\n1,a\r\n');
  });
});
