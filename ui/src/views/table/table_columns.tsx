// The columns of both tables, on screen and as CSV. Bars are in relation to the largest value of their column, so that a
// flat profile still shows which is more.
import type { DiffRow, FrameName, TopRow } from '../../api/types';
import { Bar } from '../../parts/table/bar';
import type { Column } from '../../parts/table/columns';
import type { State } from '../../state/state';
import { formatCount, formatShare } from '../../text/format';
import { type Measure, plainMeasure } from '../../text/measure';
import { visibleText } from '../../text/safe';
import { NameCell } from './name_cell';
import { baseName, groupWords, placeOf, relativeText, significanceText, valueText } from './table_model';

function largest<Row>(rows: readonly Row[], value: (row: Row) => number): number {
  let most = 0;
  for (const row of rows) most = Math.max(most, Math.abs(value(row)));
  return most || 1;
}

type Look = Pick<State, 'search' | 'group'>;

function frameColumns(
  rows: readonly FrameName[],
  { search, group }: Look,
): Record<'name' | 'binary' | 'place', Column> {
  return {
    name: {
      id: 'name',
      title: groupWords[group][0],
      width: 200,
      grow: true,
      sortable: true,
      cell: (row) => <NameCell name={rows[row].name} search={search} />,
    },
    binary: {
      id: 'binary',
      title: 'Binary',
      width: 130,
      spare: 2,
      sortable: true,
      cell: (row) => (
        <span class="grid-quiet" title={visibleText(rows[row].binary)}>
          {visibleText(baseName(rows[row].binary))}
        </span>
      ),
    },
    place: {
      id: 'place',
      title: 'File:line',
      width: 150,
      spare: 3,
      sortable: true,
      cell: (row) => (
        <span class="grid-quiet" title={visibleText(placeOf(rows[row]))}>
          {visibleText(baseName(placeOf(rows[row])))}
        </span>
      ),
    },
  };
}

// Columns that no row has anything for are not shown.
function hasAny(
  rows: readonly (FrameName & Pick<TopRow, 'callers'> & Pick<DiffRow, 'q_value'>)[],
  column: string,
): boolean {
  if (column === 'binary') return rows.some((row) => row.binary !== '');
  if (column === 'place') return rows.some((row) => row.file !== '');
  if (column === 'significance') return rows.some((row) => row.q_value !== undefined);
  if (column === 'callers') return rows.some((row) => row.callers !== undefined);
  return true;
}

function numeric(id: string, title: string, width: number, cell: Column['cell'], more: Partial<Column> = {}): Column {
  return { id, title, width, end: true, sortable: true, descendingFirst: true, cell, ...more };
}

export function topColumns(rows: readonly TopRow[], unit: string, total: number, look: Look): Column[] {
  const measure = plainMeasure(unit);
  const frame = frameColumns(rows, look);
  const mostSelf = largest(rows, (row) => row.flat);
  const mostTotal = largest(rows, (row) => row.cum);
  const share = (value: number, most: number) => <Bar text={formatShare(value, total)} part={Math.abs(value) / most} />;
  return [
    numeric('self', 'Self', 88, (row) => valueText(rows[row].flat, measure), { hint: 'In the function itself' }),
    numeric('self_share', 'Self %', 92, (row) => share(rows[row].flat, mostSelf)),
    numeric('total', 'Total', 88, (row) => valueText(rows[row].cum, measure), {
      hint: 'In the function and its callees',
      spare: 0,
    }),
    numeric('total_share', 'Total %', 92, (row) => share(rows[row].cum, mostTotal)),
    frame.name,
    numeric(
      'callers',
      'Callers',
      76,
      (row) => {
        const { callers } = rows[row];
        return (
          <span class="grid-quiet">
            {callers === undefined ? '–' : callers < 1000 ? callers : formatCount(callers)}
          </span>
        );
      },
      { spare: 4, hint: 'How many functions call it directly' },
    ),
    frame.binary,
    frame.place,
  ].filter((column) => hasAny(rows, column.id));
}

export function diffColumns(rows: readonly DiffRow[], measure: Measure, look: Look): Column[] {
  const frame = frameColumns(rows, look);
  const mostSelf = largest(rows, (row) => row.flat_delta);
  const mostTotal = largest(rows, (row) => row.cum_delta);
  const value = (weight: number) => valueText(weight, measure);
  const change = (weight: number, most: number) => (
    <Bar text={measure.change(weight)} part={Math.abs(weight) / most} tone={weight > 0 ? 'more' : 'less'} />
  );
  return [
    numeric('self_before', 'Self before', 92, (row) => value(rows[row].flat_before), { spare: 5 }),
    numeric('self_after', 'Self after', 92, (row) => value(rows[row].flat_after), {
      spare: 5,
    }),
    numeric('self_delta', 'Self change', 122, (row) => change(rows[row].flat_delta, mostSelf), {
      hint: measure.of && `In the function itself, ${measure.of}`,
    }),
    numeric('self_relative', 'Self ±', 70, (row) => relativeText(rows[row].flat_before, rows[row].flat_after), {
      spare: 1,
      hint: 'Relative change of self',
    }),
    numeric('total_before', 'Total before', 96, (row) => value(rows[row].cum_before), { spare: 6 }),
    numeric('total_after', 'Total after', 96, (row) => value(rows[row].cum_after), {
      spare: 6,
    }),
    numeric('total_delta', 'Total change', 122, (row) => change(rows[row].cum_delta, mostTotal), {
      hint: measure.of && `In the function and its callees, ${measure.of}`,
    }),
    numeric('total_relative', 'Total ±', 70, (row) => relativeText(rows[row].cum_before, rows[row].cum_after), {
      spare: 4,
      hint: 'Relative change of total',
    }),
    numeric(
      'significance',
      'Signif.',
      112,
      (row) => (
        <span class={rows[row].significant ? 'table-significant' : 'grid-quiet'}>
          {rows[row].significant ? '● ' : ''}
          {significanceText(rows[row])}
        </span>
      ),
      {
        descendingFirst: false,
        spare: 3,
        hint: 'q: share of changes like this that chance alone would make. ● is below 0.05: more than chance',
      },
    ),
    { ...frame.name, width: 280 },
    { ...frame.binary, spare: 7 },
    { ...frame.place, spare: 8 },
  ].filter((column) => hasAny(rows, column.id));
}

interface Csv<Row> {
  headings: string[];
  row(row: Row): (string | number)[];
}

export const topCsv: Csv<TopRow> = {
  headings: ['self', 'total', 'callers', 'name', 'binary', 'file', 'line'],
  row: (row) => [row.flat, row.cum, row.callers ?? '', row.name, row.binary, row.file, row.line],
};
export const diffCsv: Csv<DiffRow> = {
  headings: [
    'self_before',
    'self_after',
    'self_change',
    'total_before',
    'total_after',
    'total_change',
    'q_value',
    'significant',
    'name',
    'binary',
    'file',
    'line',
  ],
  row: (row) => [
    row.flat_before,
    row.flat_after,
    row.flat_delta,
    row.cum_before,
    row.cum_after,
    row.cum_delta,
    row.q_value ?? '',
    row.significant ? 'yes' : 'no',
    row.name,
    row.binary,
    row.file,
    row.line,
  ],
};
