// Where one arrives: every service with what it uses now, against the time before, largest first.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { serverConfig } from '../../api/server_config';
import { useCommands } from '../../parts/commands/commands';
import { EmptyNotice, ErrorNotice, Notice, Waiting } from '../../parts/notice';
import { RangePicker } from '../../parts/range_picker';
import { sparklinePath } from '../../parts/sparkline';
import { Warnings } from '../../parts/warnings';
import { useWindowed } from '../../parts/windowed';
import { formatSelector } from '../../state/selector';
import type { State } from '../../state/state';
import { amend, go, linkTo, state } from '../../state/store';
import { countsText, coveredText } from '../../text/basis';
import { formatAgo, formatCount, formatRate, formatRelative, formatTime, formatValue } from '../../text/format';
import { labelText } from '../../text/names';
import { mainType } from '../../text/profile_types';
import { visibleText } from '../../text/safe';
import { FirstRun } from '../first_run/first_run';
import { Baselines } from './baselines';
import {
  type Change,
  type Column,
  changeOf,
  filterRows,
  fleetOf,
  isRough,
  nextSort,
  readSort,
  type ServiceRow,
  type ServicesAnswer,
  sortRows,
  typesOf,
  uncountedTypes,
  waitingBaselines,
} from './rows';
import './services.css';

const rowHeight = 34;
const slots = 256; // more rows than any window shows
const titles: [Column | null, string][] = [
  ['name', 'Service'],
  ['type', 'Type'],
  [null, 'Over time'],
  ['rate', 'Average'],
  ['change', 'Change'],
  ['hosts', 'Hosts'],
  ['last', 'Last seen'],
];

const hints: Partial<Record<Column, string>> = {
  rate: 'Average over the time that has data',
  change: 'Change of the average against the preceding period of the same length',
};

function targetOf(row: ServiceRow): Partial<State> {
  const matchers = [{ name: 'service_name', operator: '=' as const, value: row.service_name }];
  const { from, to } = state.value.source;
  return {
    view: 'explore',
    source: { query: formatSelector({ type: row.name, matchers }), from, to, file: '' },
    zoom: [],
    steps: [],
    sandwich: '',
    seriesBy: '',
  };
}

export function ServicesView() {
  const { source, servicesFilter, servicesType, servicesSort } = state.value;
  const parameters = new URLSearchParams({ from: source.from, to: source.to, points: '60' });
  const answer = useAnswer(`services ${parameters}`, (signal) =>
    askJson<ServicesAnswer>('services', parameters, signal),
  );
  const all = answer.data?.rows ?? [];
  const rows = useMemo(
    () => (answer.data ? sortRows(filterRows(all, servicesFilter, servicesType), servicesSort, answer.data) : []),
    [all, servicesFilter, servicesType, servicesSort],
  );
  const uncounted = uncountedTypes(rows);
  const filterField = useRef<HTMLInputElement>(null);
  useCommands([
    {
      id: 'services.filter',
      title: 'Filter services',
      group: 'Services',
      keys: ['/'],
      run: () => filterField.current?.focus(),
    },
  ]);
  const baselines = <Baselines baselines={answer.data ? waitingBaselines(answer.data) : []} />;
  if (answer.data && all.length === 0 && serverConfig.value.empty) return <FirstRun notes={baselines} />;
  return (
    <div class="services">
      <div class="row spread services-head">
        <h1>Services</h1>
        <RangePicker source={source} onChange={(next) => go({ source: next })} label="Range" />
      </div>
      <div class="row services-filters">
        <input
          ref={filterField}
          type="search"
          aria-label="Filter services"
          placeholder="Filter services"
          value={servicesFilter}
          onInput={(event) => amend({ servicesFilter: event.currentTarget.value })}
          onKeyDown={(event) => {
            // Out of the field, so that letters are keys again.
            if (event.key === 'Escape' && !servicesFilter) event.currentTarget.blur();
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            document.querySelector<HTMLElement>('.services-grid')?.focus();
          }}
        />
        <select
          aria-label="Type"
          value={servicesType}
          onChange={(event) => amend({ servicesType: event.currentTarget.value })}
        >
          <option value="">All types</option>
          {typesOf(all).map((name) => (
            <option key={name} value={name}>
              {visibleText(name)}
            </option>
          ))}
        </select>
        <FleetLine rows={rows} range={answer.data ? answer.data.to_ns - answer.data.from_ns : 0} />
      </div>
      <Warnings of={answer.data} />
      {answer.error && !answer.data && <ErrorNotice error={answer.error} />}
      {!answer.data && !answer.error && <Waiting slow={answer.slow} what="Loading services" />}
      {answer.data && all.length === 0 && <EmptyNotice source={{ ...source, query: '', file: '' }} />}
      {answer.data && all.length > 0 && rows.length === 0 && (
        <Notice
          title="No service matches"
          action={
            <button type="button" class="primary" onClick={() => amend({ servicesFilter: '', servicesType: '' })}>
              Clear the filter
            </button>
          }
        >
          {formatCount(all.length)} services and types are there without the filter.
        </Notice>
      )}
      {answer.data && rows.length > 0 && <ServicesGrid rows={rows} sort={servicesSort} answer={answer.data} />}
      {rows.some(isRough) && <p class="muted">≈ Fewer than 100 samples: a rough figure.</p>}
      {uncounted.length > 0 && (
        <p class="muted">The number of samples is not known for {uncounted.map(visibleText).join(', ')}.</p>
      )}
      {baselines}
      {answer.data && answer.data.cut.rows > 0 && (
        <p class="muted">{formatCount(answer.data.cut.rows)} more rows were left out by the server's limit.</p>
      )}
    </div>
  );
}

function FleetLine({ rows, range }: { rows: ServiceRow[]; range: number }) {
  const { cost_per_core_hour = 0, co2_per_core_hour = 0 } = serverConfig.value;
  const fleet = fleetOf(rows, cost_per_core_hour, co2_per_core_hour);
  if (rows.length === 0) return null;
  const few = (value: number) => (value >= 100 ? formatCount(Math.round(value)) : value.toPrecision(3));
  return (
    <p class="services-fleet muted">
      {formatCount(fleet.services)} {fleet.services === 1 ? 'service' : 'services'}
      {fleet.cores > 0 && (
        <>
          {' · '}
          <strong>{formatRate(fleet.cores * 1e9, mainType.unit, mainType.type)}</strong> on average
          {fleet.covered > 0 && ` over ${coveredText(fleet.covered, range)}`} · {few(fleet.coreHours)} core-hours
        </>
      )}
      {fleet.cost > 0 && ` · cost ${few(fleet.cost)}`}
      {fleet.co2 > 0 && ` · ${few(fleet.co2)} g CO₂`}
    </p>
  );
}

function ServicesGrid({ rows, sort, answer }: { rows: ServiceRow[]; sort: string; answer: ServicesAnswer }) {
  const [active, setActive] = useState(-1);
  const { element, shown } = useWindowed(rows.length, rowHeight);
  const now = useMemo(() => Date.now(), [rows]);
  const { column: sorted, descending } = readSort(sort);
  const cursor = Math.min(active, rows.length - 1);

  useEffect(() => {
    if (cursor < 0 || !element.current) return;
    // The row may not be in the page yet: its place is known all the same.
    const top = element.current.getBoundingClientRect().top + cursor * rowHeight;
    if (top < 40) window.scrollBy(0, top - 40);
    else if (top + rowHeight > window.innerHeight) window.scrollBy(0, top + rowHeight - window.innerHeight + 8);
  }, [cursor]);

  const onKeyDown = (event: KeyboardEvent) => {
    // The titles are buttons of their own.
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(window.innerHeight / rowHeight) - 4);
    const moves: Record<string, number> = {
      ArrowDown: cursor + 1,
      ArrowUp: cursor - 1,
      PageDown: cursor + page,
      PageUp: cursor - page,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in moves) setActive(Math.max(0, Math.min(rows.length - 1, moves[event.key])));
    else if (event.key === 'Enter' && cursor >= 0) go(targetOf(rows[cursor]));
    else return;
    event.preventDefault();
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: windowed rows are no table
    <div
      class="services-grid"
      role="grid"
      aria-label="Services"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={cursor >= 0 ? `service-${cursor}` : undefined}
      tabIndex={0}
      onFocus={(event) => {
        if (event.target === event.currentTarget && active < 0) setActive(0);
      }}
      onKeyDown={onKeyDown}
    >
      {/* biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant stands for the focus */}
      {/* biome-ignore lint/a11y/useSemanticElements: windowed rows are no table */}
      <div class="services-row services-titles" role="row" aria-rowindex={1}>
        {titles.map(([column, title]) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the button inside is
          // biome-ignore lint/a11y/useSemanticElements: see above
          <div
            key={title}
            role="columnheader"
            class={column === 'rate' || column === 'change' || column === 'hosts' || column === 'last' ? 'number' : ''}
            aria-sort={column && column === sorted ? (descending ? 'descending' : 'ascending') : undefined}
          >
            {column ? (
              <button
                type="button"
                class="quiet"
                title={hints[column]}
                onClick={() => amend({ servicesSort: nextSort(sort, column) })}
              >
                {title}
                {column === sorted && (
                  <span class="services-arrow" aria-hidden="true">
                    {descending ? '▼' : '▲'}
                  </span>
                )}
              </button>
            ) : (
              <span>{title}</span>
            )}
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div ref={element} class="services-rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(shown.first, shown.end).map((row, offset) => (
          <ServiceLine
            // Rows that scroll out of sight serve for those that come: making them anew is what costs.
            key={(shown.first + offset) % slots}
            row={row}
            index={shown.first + offset}
            active={shown.first + offset === cursor}
            now={now}
            answer={answer}
          />
        ))}
      </div>
    </div>
  );
}

interface LineProps {
  row: ServiceRow;
  index: number;
  active: boolean;
  now: number;
  answer: ServicesAnswer;
}

function ServiceLine(props: LineProps) {
  const { row, index, active, now, answer } = props;
  // Most rows are the same after a step of scrolling.
  return useMemo(() => serviceLine(props), [row, index, active, now, answer, state.value.source]);
}

// Hours and minutes; the day where it is another one.
function clockText(milliseconds: number, now: number): string {
  const text = formatTime(milliseconds);
  return text.slice(0, 10) === formatTime(now).slice(0, 10) ? text.slice(11, 16) : text.slice(5, 16);
}

function changeCell(row: ServiceRow, change: Change, now: number) {
  if (change.kind === 'stopped') return <Cell number>no data since {clockText(change.since / 1e6, now)}</Cell>;
  if (change.kind === 'new') return <Cell number>new</Cell>;
  const relative = formatRelative(row.previous_rate ?? 0, row.rate);
  const arrow = relative.startsWith('±') ? '' : change.factor > 1 ? '▲' : '▼';
  return (
    <Cell number strong={change.factor >= 1.25 || change.factor <= 0.8}>
      {relative} <span aria-hidden="true">{arrow}</span>
    </Cell>
  );
}

function serviceLine({ row, index, active, now, answer }: LineProps) {
  const last = row.last_ns / 1e6;
  const instant = row.temporality === 'instant';
  const basis = [coveredText(row.covered_ns, answer.to_ns - answer.from_ns), countsText(row)]
    .filter(Boolean)
    .join(', ');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant stands for the focus
    // biome-ignore lint/a11y/useSemanticElements: windowed rows are no table
    <div
      id={`service-${index}`}
      class={active ? 'services-row active' : 'services-row'}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={active}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest('a') && (event.metaKey || event.ctrlKey || event.shiftKey)) return;
        event.preventDefault();
        go(targetOf(row));
      }}
    >
      <Cell>
        <a href={linkTo(targetOf(row))} tabIndex={-1} title={labelText(row.service_name)}>
          {labelText(row.service_name) || '(no name)'}
        </a>
      </Cell>
      <Cell title={visibleText(row.profile_type)}>
        {visibleText(row.name === row.profile_type ? row.type : row.name)}
      </Cell>
      <Cell>
        <Sparkline values={row.values} />
      </Cell>
      <Cell number title={basis}>
        {isRough(row) && '≈ '}
        {instant ? formatValue(row.rate, row.unit) : formatRate(row.rate, row.unit, row.type)}
      </Cell>
      {changeCell(row, changeOf(row, answer), now)}
      <Cell number>{row.hosts > 0 ? formatCount(row.hosts) : '–'}</Cell>
      <Cell number title={formatTime(last)}>
        {formatAgo(last, now)}
      </Cell>
    </div>
  );
}

function Cell(props: { children: preact.ComponentChildren; number?: boolean; strong?: boolean; title?: string }) {
  const names = `services-cell${props.number ? ' number' : ''}${props.strong ? ' strong' : ''}`;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant stands for the focus
    // biome-ignore lint/a11y/useSemanticElements: windowed rows are no table
    <div class={names} role="gridcell" title={props.title}>
      {props.children}
    </div>
  );
}

function Sparkline({ values }: { values: (number | null)[] }) {
  const { line, area } = sparklinePath(values, 150, 22);
  return (
    <svg class="services-spark" viewBox="0 0 150 22" preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d={area} />
      <path class="line" d={line} />
    </svg>
  );
}
