// The table of functions, from the whole profile; in a comparison with both sides and the change.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AnswerHeader, DiffRow, FrameName, TopRow } from '../../api/types';
import { useAnswers } from '../../flame/answers';
import { copyText } from '../../parts/clipboard';
import { useCommands } from '../../parts/commands/commands';
import { showFrameMenu } from '../../parts/frame_menu';
import { ErrorNotice } from '../../parts/notice';
import { SearchBox } from '../../parts/search_box';
import { StepsBar } from '../../parts/steps_bar';
import type { Column } from '../../parts/table/columns';
import { csvText } from '../../parts/table/csv';
import { Grid } from '../../parts/table/grid';
import { type Sort, writeSort } from '../../parts/table/sort';
import { Warnings } from '../../parts/warnings';
import { hoveredFunction, selectedFunction } from '../../state/selection';
import { amend, go, state } from '../../state/store';
import { samplesNote } from '../../text/basis';
import { formatCount, formatShare } from '../../text/format';
import { matchOf } from '../../text/match';
import { measureOf } from '../../text/measure';
import { Details } from './details';
import { diffColumns, diffCsv, topColumns, topCsv } from './table_columns';
import './table.css';
import { diffKeys, findFrame, groupWords, keepsChange, knownSort, namedRows, TableModel, topKeys } from './table_model';

interface BodyProps<Row extends FrameName> {
  model: TableModel<Row>;
  rows: Uint32Array;
  columns: Column[];
  sort: Sort;
  cut: string;
  label: string;
  busy: boolean;
  slow: boolean;
  csv(rows: Uint32Array): string;
  from: Partial<AnswerHeader> | undefined; // the answer
}

function Body<Row extends FrameName>({ model, rows, columns, sort, ...rest }: BodyProps<Row>) {
  const { server } = useAnswers();
  const [pointed, setPointed] = useState<FrameName | null>(null);
  const current = useMemo(() => findFrame(model.rows, pointed), [model, pointed]);
  const { search, pane, group } = state.value;
  const [, many] = groupWords[group];
  const besideFlame = pane === 'both'; // which has the search and the steps then
  const match = matchOf(search);
  const hovered = hoveredFunction.value;
  const selected = selectedFunction.value;
  const sandwich = (row: number) =>
    go({ sandwich: model.rows[row].name, pane: state.value.pane === 'both' ? 'both' : 'flame' });
  // What was chosen in the flame graph is found here too.
  useEffect(() => {
    if (selected === null || pointed?.name === selected) return;
    const row = model.rows.findIndex(({ name }) => name === selected);
    if (row >= 0) setPointed(model.rows[row]);
  }, [selected]);
  const copy = () => copyText(rest.csv(rows), `${formatCount(rows.length)} rows copied`);
  // Names take longest to put in order: done while nobody waits for it.
  useEffect(() => {
    const timer = setTimeout(() => model.keysOf('name'), 500);
    return () => clearTimeout(timer);
  }, [model]);
  useCommands([{ id: 'table.copy', title: 'Copy the table as CSV', group: 'Table', run: copy }]);
  return (
    <section class="table-pane" aria-label={rest.label}>
      {!besideFlame && <StepsBar />}
      {!besideFlame && <Warnings of={rest.from} />}
      <div class="table-tools">
        {!besideFlame && <SearchBox label="Search functions" />}
        <span role="status">
          {rows.length === model.rows.length
            ? `${formatCount(rows.length)} ${many}`
            : `${formatCount(rows.length)} of ${formatCount(model.rows.length)} ${many}`}
          {samplesNote(rest.from)}
          {rest.cut && <span class="table-cut"> · {rest.cut}</span>}
          {match.error && (
            <span class="table-wrong"> · the search is not a valid regular expression: {match.error}</span>
          )}
          {rest.slow && <span class="muted"> · loading</span>}
        </span>
        <span class="table-tools-end">
          <button type="button" class="table-button" onClick={copy}>
            Copy as CSV
          </button>
        </span>
      </div>
      <div class="table-grid">
        <Grid
          label={rest.label}
          columns={columns}
          rows={rows}
          sort={sort}
          onSort={(next) => go({ sort: writeSort(next) })}
          cursor={current}
          onCursor={(row) => setPointed(model.rows[row])}
          onActivate={(row) => {
            selectedFunction.value = model.rows[row].name;
          }}
          onOpen={sandwich}
          onHover={(row) => {
            hoveredFunction.value = row < 0 ? null : model.rows[row].name;
          }}
          onMenu={(row, at) => showFrameMenu(at, model.rows[row], { source: server })}
          onKey={(event, row) => {
            if (event.key !== 's' || event.ctrlKey) return false;
            sandwich(row);
            return true;
          }}
          selected={(row) => model.rows[row].name === selected}
          rowClass={(row) => (model.rows[row].name === hovered ? 'grid-lit' : '')}
          start={`${writeSort(sort)} ${search}`}
          busy={rest.busy}
          empty={
            match.empty ? (
              'Nothing to show: the filters leave no function.'
            ) : (
              <>
                No function matches.{' '}
                <button type="button" onClick={() => amend({ search: '' })}>
                  Clear the search
                </button>
              </>
            )
          }
        />
      </div>
      <Details frame={current >= 0 ? model.rows[current] : undefined} />
    </section>
  );
}

function cutText(rows: number, weight: string): string {
  return rows > 0 ? `${formatCount(rows)} more with ${weight} are not listed; search covers all of them` : '';
}

function TopTable() {
  const { answer, data } = useAnswers().useTop();
  const now = state.value;
  const sort = knownSort(now.sort, topKeys, '-self');
  const model = useMemo(() => new TableModel<TopRow>(namedRows(data?.rows ?? [], now.group), topKeys), [data]);
  const rows = useMemo(() => model.shown(matchOf(now.search), sort), [model, now.search, sort.column, sort.descending]);
  const columns = useMemo(() => (data ? topColumns(model.rows, data.unit, data.total, now) : []), [data, now.search]);
  if (answer.error && !data) return <ErrorNotice error={answer.error} />;
  if (!data) return <Waiting slow={answer.slow} />;
  return (
    <Body
      label="Functions by weight"
      from={answer.data}
      model={model}
      rows={rows}
      columns={columns}
      sort={sort}
      cut={cutText(answer.data?.cut.rows ?? 0, `${formatShare(answer.data?.cut.flat ?? 0, data.total)} of self`)}
      busy={answer.loading}
      slow={answer.slow}
      csv={(order) =>
        csvText(
          topCsv.headings,
          Array.from(order, (row) => topCsv.row(model.rows[row])),
        )
      }
    />
  );
}

function DiffTable() {
  const { answer, data } = useAnswers().useDiff();
  const now = state.value;
  const sort = knownSort(now.sort, diffKeys, '-self_delta');
  const model = useMemo(() => new TableModel<DiffRow>(namedRows(data?.rows ?? [], now.group), diffKeys), [data]);
  const rows = useMemo(
    () => model.shown(matchOf(now.search), sort, keepsChange(now.change)),
    [model, now.search, now.change, sort.column, sort.descending],
  );
  const columns = useMemo(() => (data ? diffColumns(model.rows, measureOf(data), now) : []), [data, now.search]);
  if (answer.error && !data) return <ErrorNotice error={answer.error} />;
  if (!data) return <Waiting slow={answer.slow} />;
  return (
    <Body
      label="Functions by change"
      from={undefined} // the view around says it of both sides
      model={model}
      rows={rows}
      columns={columns}
      sort={sort}
      cut={cutText(answer.data?.cut.rows ?? 0, 'smaller changes')}
      busy={answer.loading}
      slow={answer.slow}
      csv={(order) =>
        csvText(
          diffCsv.headings,
          Array.from(order, (row) => diffCsv.row(model.rows[row])),
        )
      }
    />
  );
}

function Waiting({ slow }: { slow: boolean }) {
  return (
    <div class="table-pane table-waiting" role="status">
      {slow ? 'Loading …' : ''}
    </div>
  );
}

export function TablePane({ compare = false }: { compare?: boolean }) {
  return compare ? <DiffTable /> : <TopTable />;
}
