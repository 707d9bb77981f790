// The call tree: who calls whom from the entry points down, or from the functions that ran up to who called them.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { type ApiError, askJson } from '../../api/client';
import { comparisonParameters, reportParameters } from '../../api/parameters';
import { useCommands } from '../../parts/commands/commands';
import { showFrameMenu } from '../../parts/frame_menu';
import { ErrorNotice } from '../../parts/notice';
import { SearchBox } from '../../parts/search_box';
import { StepsBar } from '../../parts/steps_bar';
import { Grid } from '../../parts/table/grid';
import { allRows } from '../../parts/table/sort';
import { Warnings } from '../../parts/warnings';
import { hoveredFunction, selectedFunction } from '../../state/selection';
import type { State } from '../../state/state';
import { go, state } from '../../state/store';
import { samplesNote } from '../../text/basis';
import { formatCount } from '../../text/format';
import { measureOf } from '../../text/measure';
import { Details } from '../table/details';
import '../table/table.css';
import './tree.css';
import { treeColumns } from './tree_columns';
import {
  budgetBelow,
  buildTree,
  canOpen,
  findRow,
  graft,
  heavyPath,
  type Open,
  parentRow,
  type TreeAnswer,
  type TreeNode,
  type TreeRow,
  visibleRows,
  withClosed,
  withOpen,
} from './tree_model';

const mostNodes = 10_000;
const mostBelow = 100_000; // when somebody wants to see what was cut
const nothingOpen: Open = new Map();

// A comparison has its tree from the flame graph's route, which has both sides; that one goes top-down only.
function question(now: State, compare: boolean): { path: string; parameters: URLSearchParams } {
  const parameters = compare ? comparisonParameters(now) : reportParameters(now);
  if (now.root) parameters.set('root_by', now.root);
  if (!compare && now.direction !== 'top-down') parameters.set('direction', now.direction);
  parameters.set('nodes', String(mostNodes));
  return { path: compare ? 'diff/flame' : 'tree', parameters };
}

interface Grown {
  key: string;
  root: TreeNode;
}

function frameOf(row: TreeRow) {
  return { name: row.node.name, file: '', line: 0, binary: '' };
}

export function TreePane({ compare = false }: { compare?: boolean }) {
  const now = state.value;
  const { path, parameters } = question(now, compare);
  const key = compare && !now.baseline ? null : `${path}?${parameters}`;
  const answer = useAnswer<TreeAnswer>(key, (signal) => askJson<TreeAnswer>(path, parameters, signal));
  const first = useMemo(() => (answer.data ? buildTree(answer.data.nodes) : undefined), [answer.data]);
  const [grown, setGrown] = useState<Grown | null>(null);
  const [opened, setOpen] = useState<Open | null>(null); // null: nobody has opened or closed anything yet
  const open = opened ?? nothingOpen;
  const [pointed, setPointed] = useState<TreeRow | null>(null);
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<ApiError | null>(null);
  useEffect(() => setGrown(null), [first]);
  // A tree that nobody opened yet shows where the weight is, or the frame that a link zoomed to.
  useEffect(() => {
    if (!first || opened) return;
    const start = now.zoom.length > 0 && now.direction === 'top-down' ? now.zoom : heavyPath(first, []);
    setOpen(withOpen(new Map(), start));
  }, [first]);
  useEffect(() => {
    setOpen(null);
    setPointed(null);
  }, [now.direction]);

  const root = grown && grown.key === key ? grown.root : first;
  const rows = useMemo(() => (root ? visibleRows(root, open) : []), [root, open]);
  const cursor = useMemo(() => findRow(rows, pointed), [rows, pointed]);
  const setCursor = (at: number) => setPointed(rows[at] ?? null);
  const order = useMemo(() => allRows(rows.length), [rows]);
  const measure = useMemo(() => measureOf({ type: '', unit: '', ...answer.data }), [answer.data]);
  const columns = useMemo(
    () => (root ? treeColumns({ rows, measure, root, search: now.search, compare, toggle }) : []),
    [rows, measure, root, now.search, compare],
  );

  async function fetchBelow(row: TreeRow) {
    if (!root || !key || asking) return;
    const deeper = new URLSearchParams(parameters);
    for (const name of row.path) deeper.append('path', name);
    deeper.set('nodes', String(budgetBelow(row.node, mostNodes, mostBelow)));
    setAsking(true);
    setFailed(null);
    try {
      const part = buildTree((await askJson<TreeAnswer>(path, deeper)).nodes);
      if (part) setGrown({ key, root: graft(root, row.path, part) });
      setOpen((before) => withOpen(before ?? nothingOpen, row.path));
    } catch (error) {
      setFailed(error as ApiError);
    } finally {
      setAsking(false);
    }
  }
  function toggle(at: number, wanted?: boolean) {
    const row = rows[at];
    if (!row) return;
    if (row.isCut) {
      fetchBelow(row);
      return;
    }
    setPointed(row);
    const next = wanted ?? !row.isOpen;
    if (!next) setOpen(withClosed(open, row.path));
    else if (row.node.children.length === 0 && row.node.cutNodes > 0) fetchBelow(row);
    else setOpen(withOpen(open, row.path));
  }
  const openHeavy = () => {
    if (!root) return;
    const from = rows[cursor]?.path ?? [];
    setOpen(withOpen(open, heavyPath(root, from)));
  };
  const onKey = (event: KeyboardEvent, at: number): boolean => {
    const row = rows[at];
    if (event.ctrlKey) return false;
    switch (event.key) {
      case 'ArrowRight':
        if (row.isCut || !canOpen(row.node)) return true;
        if (row.isOpen) setCursor(Math.min(at + 1, rows.length - 1));
        else toggle(at, true);
        return true;
      case 'ArrowLeft':
        if (row.isOpen) toggle(at, false);
        else if (parentRow(rows, at) >= 0) setCursor(parentRow(rows, at));
        return true;
      case '*':
      case 'h':
        openHeavy();
        return true;
      case 's':
        if (!row.isCut) go({ sandwich: row.node.name, pane: 'flame' });
        return true;
      default:
        return false;
    }
  };
  useCommands([
    { id: 'tree.heavy', title: 'Open the heavy path', group: 'Call tree', keys: ['h'], run: openHeavy },
    {
      id: 'tree.direction',
      title: 'Top-down or bottom-up',
      group: 'Call tree',
      run: () => go({ direction: state.value.direction === 'top-down' ? 'bottom-up' : 'top-down' }),
      enabled: () => !compare,
    },
  ]);

  if (answer.error && !root) return <ErrorNotice error={answer.error} />;
  if (!root) return <div class="table-pane table-waiting">{answer.slow ? 'Loading …' : ''}</div>;
  const besideFlame = now.pane === 'both';
  const selected = selectedFunction.value;
  const hovered = hoveredFunction.value;
  const cut = answer.data?.cut.nodes ?? 0;
  return (
    <section class="table-pane" aria-label="Call tree">
      {!besideFlame && <StepsBar />}
      {!compare && <Warnings of={answer.data} />}
      <div class="table-tools">
        {!besideFlame && <SearchBox label="Search functions" />}
        {compare ? (
          <span>Top-down</span>
        ) : (
          <fieldset class="tree-direction">
            <legend class="hidden-text">Direction</legend>
            {(['top-down', 'bottom-up'] as const).map((direction) => (
              <button
                key={direction}
                type="button"
                class="table-button"
                aria-pressed={now.direction === direction}
                onClick={() => go({ direction })}
              >
                {direction === 'top-down' ? 'Top-down' : 'Bottom-up'}
              </button>
            ))}
          </fieldset>
        )}
        <span role="status">
          {cut > 0 && `${formatCount(cut)} small nodes are loaded when opened`}
          {!compare && samplesNote(answer.data)}
          {(asking || answer.slow) && <span class="muted"> · loading</span>}
          {failed && <span class="table-wrong"> · {failed.message}</span>}
        </span>
        <span class="table-tools-end">
          <button type="button" class="table-button" onClick={openHeavy} title="H">
            Open heavy path
          </button>
          <button type="button" class="table-button" onClick={() => setOpen(new Map())}>
            Close all
          </button>
        </span>
      </div>
      <div class="table-grid">
        <Grid
          label="Call tree"
          columns={columns}
          rows={order}
          cursor={cursor}
          onCursor={setCursor}
          onActivate={(at) => {
            if (rows[at].isCut) toggle(at);
            else selectedFunction.value = rows[at].node.name;
          }}
          onOpen={(at) => toggle(at)}
          onHover={(at) => {
            hoveredFunction.value = at < 0 || rows[at].isCut ? null : rows[at].node.name;
          }}
          onMenu={(at, place) => {
            if (!rows[at].isCut) showFrameMenu(place, frameOf(rows[at]));
          }}
          onKey={onKey}
          tree={(at) => {
            const { level, position, siblings, isOpen, isCut, node } = rows[at];
            return { level, position, siblings, expanded: !isCut && canOpen(node) ? isOpen : undefined };
          }}
          selected={(at) => !rows[at].isCut && rows[at].node.name === selected}
          rowClass={(at) => (!rows[at].isCut && rows[at].node.name === hovered ? 'grid-lit' : '')}
          busy={answer.loading || asking}
          empty="Nothing to show: the filters leave no stack."
        />
      </div>
      <Details frame={cursor >= 0 && !rows[cursor].isCut ? frameOf(rows[cursor]) : undefined} />
    </section>
  );
}
