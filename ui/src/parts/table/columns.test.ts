import { describe, expect, it } from 'vitest';
import { fittingColumns, templateOf, widthOf } from './columns';

const columns = [
  { id: 'self', width: 100 },
  { id: 'name', width: 200, grow: true },
  { id: 'callers', width: 80, spare: 2 },
  { id: 'binary', width: 120, spare: 1 },
  { id: 'file', width: 120, spare: 3 },
];
const ids = (width: number) => fittingColumns(columns, width).map((column) => column.id);

describe('columns', () => {
  it('go by their use when there is no room', () => {
    expect(ids(1000)).toEqual(['self', 'name', 'callers', 'binary', 'file']);
    expect(ids(600)).toEqual(['self', 'name', 'callers', 'binary']);
    expect(ids(450)).toEqual(['self', 'name', 'binary']);
  });
  it('that matter stay in any width', () => {
    expect(ids(10)).toEqual(['self', 'name']);
  });
  it('take the room that is left', () => {
    expect(templateOf(columns.slice(0, 2))).toBe('100px minmax(200px, 1fr)');
    expect(widthOf(columns.slice(0, 2))).toBe(300);
  });
});
