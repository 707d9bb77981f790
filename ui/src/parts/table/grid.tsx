// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and points at its row (aria-activedescendant)
// biome-ignore-all lint/a11y/noStaticElementInteractions: its role is grid or treegrid
// biome-ignore-all lint/a11y/useAriaPropsSupportedByRole: its role is grid or treegrid
// A table of any length, of which only the rows that one sees are in the document: a grid, or a treegrid when rows have
// levels. The grid itself has the focus and points at the current row, so that rows may come and go under it.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Column, fittingColumns, templateOf, widthOf } from './columns';
import './grid.css';
import { nextSort, type Sort } from './sort';
import { useSize } from './use_size';
import { movedCursor, scrollToRow, visibleWindow } from './window';

export const rowHeight = 26;
const headHeight = 30;
const padding = 16; // of a row, left and right together

export interface Place {
  x: number; // in the window
  y: number;
}
export interface TreePlace {
  level: number; // from 1
  expanded?: boolean; // absent for leaves
  position: number; // among its siblings, from 1
  siblings: number;
}

export interface GridProps {
  label: string;
  columns: readonly Column[];
  rows: Uint32Array; // numbers of the rows to show, in order
  cursor: number; // number of the current row; -1 = none
  onCursor(row: number): void;
  sort?: Sort;
  onSort?(sort: Sort): void;
  onActivate?(row: number): void; // Enter or click
  onOpen?(row: number): void; // double click
  onHover?(row: number): void; // -1 when the pointer leaves
  onMenu?(row: number, at: Place): void;
  onKey?(event: KeyboardEvent, row: number): boolean; // whether it was for the row
  tree?(row: number): TreePlace;
  selected?(row: number): boolean;
  rowClass?(row: number): string;
  start?: string; // when this changes, the table is shown from its start: another search, another order
  busy?: boolean;
  empty: ComponentChildren;
}

function Heading({ column, sort, onSort }: { column: Column; sort?: Sort; onSort?(sort: Sort): void }) {
  const isSorted = sort?.column === column.id;
  const order = !column.sortable ? undefined : !isSorted ? 'none' : sort.descending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" aria-sort={order} class={column.end ? 'grid-head grid-end' : 'grid-head'}>
      {column.sortable && onSort && sort ? (
        <button
          type="button"
          class="grid-sort"
          title={column.hint}
          onClick={() => onSort(nextSort(sort, column.id, column.descendingFirst ?? false))}
        >
          {column.title}
          <span aria-hidden="true" class="grid-arrow">
            {isSorted ? (sort.descending ? '▼' : '▲') : ''}
          </span>
        </button>
      ) : (
        <span title={column.hint}>{column.title}</span>
      )}
    </div>
  );
}

export function Grid(props: GridProps) {
  const { columns: wanted, rows, cursor } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const columns = fittingColumns(wanted, size.width - padding);
  const bodyHeight = Math.max(rowHeight, size.height - headHeight);
  const [scrollTop, setScrollTop] = useState(0);
  const seen = visibleWindow(scrollTop, bodyHeight, rowHeight, rows.length);
  const current = cursor < 0 ? -1 : rows.indexOf(cursor);

  // Only when the cursor moves: whoever scrolls away from it is not pulled back by a refresh.
  useLayoutEffect(() => {
    if (current < 0 || !box.current || size.height === 0) return;
    const to = scrollToRow(current, box.current.scrollTop, bodyHeight, rowHeight);
    if (to !== undefined) box.current.scrollTop = to;
  }, [cursor, size.height === 0]);
  const shownFrom = useRef(props.start);
  useLayoutEffect(() => {
    if (shownFrom.current === props.start || !box.current) return;
    shownFrom.current = props.start;
    if (scrollTop === 0) return; // asking for it would make the browser lay out twice
    box.current.scrollTop = 0;
    setScrollTop(0);
  }, [props.start]);
  // A table that got shorter leaves the scroll position behind without an event.
  useLayoutEffect(() => {
    if (box.current && scrollTop > 0) setScrollTop(box.current.scrollTop);
  }, [rows.length]);

  const rowAt = (target: EventTarget | null): number => {
    const element = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
    return element ? Number(element.dataset.row) : -1;
  };
  const menuAt = (row: number, event: MouseEvent | KeyboardEvent) => {
    if (!props.onMenu || row < 0) return;
    event.preventDefault();
    if (event instanceof MouseEvent && (event.clientX || event.clientY)) {
      props.onMenu(row, { x: event.clientX, y: event.clientY });
      return;
    }
    const element = box.current?.querySelector(`[data-row="${row}"]`)?.getBoundingClientRect();
    if (element) props.onMenu(row, { x: element.left + 40, y: element.bottom });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey || event.metaKey) return;
    if (current >= 0 && props.onKey?.(event, cursor)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey) return;
    const page = Math.max(1, Math.floor(bodyHeight / rowHeight) - 1);
    const to = movedCursor(event.key, current, rows.length, page);
    if (to !== undefined) {
      event.preventDefault();
      props.onCursor(rows[to]);
    } else if (event.key === 'Enter' && current >= 0) {
      event.preventDefault();
      props.onActivate?.(cursor);
    } else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      menuAt(current >= 0 ? cursor : -1, event);
    }
  };

  const shown: number[] = [];
  for (let at = seen.first; at < seen.end; ++at) shown.push(at);
  // What the grid points at must exist, wherever one scrolled to.
  if (current >= 0 && (current < seen.first || current >= seen.end)) shown.push(current);
  const template = { gridTemplateColumns: templateOf(columns) };

  return (
    <div
      ref={box}
      class="grid"
      role={props.tree ? 'treegrid' : 'grid'}
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-busy={props.busy}
      aria-activedescendant={current >= 0 ? `${id}-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onClick={(event) => {
        const row = rowAt(event.target);
        if (row < 0) return;
        props.onCursor(row);
        props.onActivate?.(row);
      }}
      onDblClick={(event) => {
        const row = rowAt(event.target);
        if (row >= 0) props.onOpen?.(row);
      }}
      onContextMenu={(event) => {
        const row = rowAt(event.target);
        if (row < 0) return;
        props.onCursor(row);
        menuAt(row, event);
      }}
      onMouseMove={(event) => props.onHover?.(rowAt(event.target))}
      onMouseLeave={() => props.onHover?.(-1)}
    >
      <div class="grid-inner" style={{ minWidth: `${widthOf(columns) + padding}px` }}>
        <div role="row" aria-rowindex={1} class="grid-row grid-heads" style={template}>
          {columns.map((column) => (
            <Heading key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
          ))}
        </div>
        <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * rowHeight}px` }}>
          {shown.map((at) => {
            const row = rows[at];
            const place = props.tree?.(row);
            const isSelected = props.selected?.(row) ?? false;
            return (
              <div
                key={at} // by place: another order fills the same elements anew
                id={`${id}-${row}`}
                data-row={row}
                role="row"
                aria-rowindex={at + 2}
                aria-selected={isSelected}
                aria-level={place?.level}
                aria-expanded={place?.expanded}
                aria-posinset={place?.position}
                aria-setsize={place?.siblings}
                class={`grid-row ${at === current ? 'grid-current' : ''} ${props.rowClass?.(row) ?? ''}`}
                style={{ ...template, transform: `translateY(${at * rowHeight}px)` }}
              >
                {columns.map((column) => (
                  <div key={column.id} role="gridcell" class={column.end ? 'grid-cell grid-end' : 'grid-cell'}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {rows.length === 0 && !props.busy && <div class="grid-empty">{props.empty}</div>}
    </div>
  );
}
