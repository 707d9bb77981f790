import { describe, expect, it } from 'vitest';
import type { DiffRow, TopRow } from '../../api/types';
import { matchOf } from '../../text/match';
import {
  changeOf,
  diffKeys,
  keepsChange,
  knownSort,
  namedRows,
  relativeText,
  significanceText,
  TableModel,
  topKeys,
} from './table_model';

const top = (name: string, flat: number, cum: number): TopRow => ({
  name,
  flat,
  cum,
  file: '',
  line: 0,
  binary: '/bin/a',
});
const diff = (name: string, before: number, after: number, more: Partial<DiffRow> = {}): DiffRow => ({
  ...top(name, 0, 0),
  flat_before: before,
  flat_after: after,
  flat_delta: after - before,
  cum_before: before,
  cum_after: after,
  cum_delta: after - before,
  ...more,
});

describe('the table', () => {
  it('shows what the search finds, in the order asked for', () => {
    const model = new TableModel([top('main', 1, 10), top('work', 7, 7), top('workLoop', 2, 9)], topKeys);
    const names = (search: string, sort: string) =>
      [...model.shown(matchOf(search), knownSort(sort, topKeys, '-self'))].map((row) => model.rows[row].name);
    expect(names('', '-self')).toEqual(['work', 'workLoop', 'main']);
    expect(names('WORK', '-total')).toEqual(['workLoop', 'work']);
    expect(names('', 'name')).toEqual(['main', 'work', 'workLoop']);
  });
  it('of binaries names the binary, not some function of it', () => {
    expect(namedRows([top('main', 1, 1)], 'binary')[0].name).toBe('a');
    expect(namedRows([top('main', 1, 1)], 'function')[0].name).toBe('main');
  });
  it('takes a sort of the other table for its counterpart', () => {
    expect(knownSort('-total', diffKeys, '-self_delta')).toEqual({ column: 'total_delta', descending: true });
    expect(knownSort('-self_relative', topKeys, '-self')).toEqual({ column: 'self', descending: true });
    expect(knownSort('nonsense', diffKeys, '-self_delta').column).toBe('self_delta');
    expect(knownSort('name', diffKeys, '-self_delta')).toEqual({ column: 'name', descending: false });
  });
  it('has what did not change last, not between more and less', () => {
    const model = new TableModel([diff('same', 5, 5), diff('less', 9, 1), diff('more', 1, 3)], diffKeys);
    const names = (descending: boolean) =>
      [...model.shown(matchOf(''), { column: 'self_delta', descending })].map((row) => model.rows[row].name);
    expect(names(true)).toEqual(['more', 'less', 'same']);
    expect(names(false)).toEqual(['less', 'more', 'same']);
  });
  it('puts new above any growth and gone below any', () => {
    const model = new TableModel([diff('gone', 5, 0), diff('new', 0, 1), diff('twice', 1, 2)], diffKeys);
    const order = model.shown(matchOf(''), { column: 'self_relative', descending: true });
    expect([...order].map((row) => model.rows[row].name)).toEqual(['new', 'twice', 'gone']);
  });
});

describe('changes', () => {
  it('are told from the numbers when the server does not say', () => {
    expect([diff('a', 0, 1), diff('b', 1, 0), diff('c', 1, 2), diff('d', 1, 1)].map(changeOf)).toEqual([
      'new',
      'removed',
      'changed',
      'same',
    ]);
    expect(changeOf(diff('a', 0, 1, { change: 'same' }))).toBe('same');
  });
  it('are said as a factor when they are large', () => {
    expect([relativeText(10, 12), relativeText(10, 120), relativeText(1, 5000), relativeText(0, 4)]).toEqual([
      '+20 %',
      '×12',
      '×> 999',
      'new',
    ]);
  });
  it('are filtered by kind and by significance', () => {
    expect(keepsChange('new')?.(diff('a', 0, 1))).toBe(true);
    expect(keepsChange('significant')?.(diff('a', 0, 1))).toBe(false);
    expect(keepsChange('significant')?.(diff('a', 0, 1, { significant: true }))).toBe(true);
  });
  it('have a q value, or say that there is none', () => {
    expect(significanceText(diff('a', 0, 1))).toBe('–');
    expect(significanceText(diff('a', 0, 1, { q_value: 0.0000001 }))).toBe('q < 0.001');
    expect(significanceText(diff('a', 0, 1, { q_value: 0.234 }))).toBe('q 0.23');
  });
});
