import { describe, expect, it } from 'vitest';
import { fuzzyMatch, fuzzySort } from './fuzzy';

const titles = [
  'Collapse recursion',
  'Copy link',
  'Copy as vesta command',
  'Invert the flame graph',
  'Last 15 minutes',
];
const find = (question: string) => fuzzySort(question, titles, (title) => title).map(({ entry }) => entry);

describe('the palette', () => {
  it('prefers starts of words', () => {
    expect(find('cl')[0]).toBe('Copy link');
    expect(find('ifg')[0]).toBe('Invert the flame graph');
  });
  it('prefers letters in a row', () => {
    expect(find('col')[0]).toBe('Collapse recursion');
    expect(find('15')[0]).toBe('Last 15 minutes');
  });
  it('wants every word, in any order', () => {
    expect(find('vesta copy')).toEqual(['Copy as vesta command']);
    expect(find('copy nothing')).toEqual([]);
  });
  it('shows everything in its order when nothing is asked', () => {
    expect(find('  ')).toEqual(titles);
  });
  it('says which letters it found', () => {
    expect(fuzzyMatch('cl', 'Copy link')?.places).toEqual([0, 5]);
    expect(fuzzyMatch('x', 'Copy link')).toBeNull();
  });
  it('ends on any text', () => {
    const nasty = 'a'.repeat(2000);
    expect(fuzzyMatch('a'.repeat(50), nasty)).not.toBeNull();
    expect(fuzzyMatch(`${'a'.repeat(50)}b`, nasty)).toBeNull();
    expect(fuzzyMatch('İ', 'İstanbul')).not.toBeNull();
  });
});
