// Columns of the call tree. The name comes first here: its indent is the tree.
import { Bar } from '../../parts/table/bar';
import type { Column } from '../../parts/table/columns';
import { formatCount, formatShare } from '../../text/format';
import type { Measure } from '../../text/measure';
import { NameCell } from '../table/name_cell';
import { relativeText, valueText } from '../table/table_model';
import { canOpen, type TreeNode, type TreeRow } from './tree_model';

interface Options {
  rows: readonly TreeRow[];
  measure: Measure;
  root: TreeNode;
  search: string;
  compare: boolean;
  toggle(at: number): void;
}

const indent = 14;

function Twisty({ row, toggle }: { row: TreeRow; toggle(): void }) {
  if (row.isCut || !canOpen(row.node)) return <span class="tree-twisty" />;
  // For the pointer alone: by key, the row itself opens and closes.
  return (
    <span
      class="tree-twisty tree-can"
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        toggle();
      }}
      onDblClick={(event) => event.stopPropagation()}
    >
      {row.isOpen ? '▾' : '▸'}
    </span>
  );
}

function nameColumn({ rows, search, root, toggle }: Options): Column {
  return {
    id: 'name',
    title: 'Function',
    width: 280,
    grow: true,
    cell: (at) => {
      const row = rows[at];
      // Deep stacks would push the names out of sight.
      const depth = Math.min(row.level - 1, 60);
      return (
        <span class="tree-name" style={{ paddingLeft: `${depth * indent}px` }}>
          <Twisty row={row} toggle={() => toggle(at)} />
          {row.isCut ? (
            <span class="tree-more">
              … {formatCount(row.node.cutNodes)} more, {formatShare(row.node.cutSelf, root.total)}
            </span>
          ) : (
            <NameCell name={row.node.name} search={search} />
          )}
        </span>
      );
    },
  };
}

function numeric(id: string, title: string, width: number, cell: Column['cell'], more: Partial<Column> = {}): Column {
  return { id, title, width, end: true, cell, ...more };
}

export function treeColumns(options: Options): Column[] {
  const { rows, measure, root, compare } = options;
  const value = (at: number, of: (node: TreeNode) => number) =>
    rows[at].isCut ? '' : valueText(of(rows[at].node), measure);
  if (!compare) {
    return [
      numeric('total', 'Total', 88, (at) =>
        rows[at].isCut ? valueText(rows[at].node.cutSelf, measure) : value(at, (node) => node.total),
      ),
      numeric('share', 'Total %', 96, (at) => {
        const weight = rows[at].isCut ? rows[at].node.cutSelf : rows[at].node.total;
        return <Bar text={formatShare(weight, root.total)} part={weight / (root.total || 1)} />;
      }),
      numeric('self', 'Self', 88, (at) => value(at, (node) => node.self)),
      numeric('self_share', 'Self %', 88, (at) => (rows[at].isCut ? '' : formatShare(rows[at].node.self, root.total)), {
        spare: 1,
      }),
      nameColumn(options),
    ];
  }
  let most = 1;
  for (const { node } of rows) most = Math.max(most, Math.abs(node.total - node.totalBefore));
  return [
    numeric('before', 'Before', 88, (at) => value(at, (node) => node.totalBefore), { spare: 1 }),
    numeric('after', 'After', 88, (at) => value(at, (node) => node.total)),
    numeric('delta', 'Change', 122, (at) => {
      if (rows[at].isCut) return '';
      const change = rows[at].node.total - rows[at].node.totalBefore;
      return <Bar text={measure.change(change)} part={Math.abs(change) / most} tone={change > 0 ? 'more' : 'less'} />;
    }),
    numeric('relative', '±', 70, (at) =>
      rows[at].isCut ? '' : relativeText(rows[at].node.totalBefore, rows[at].node.total),
    ),
    numeric(
      'self_delta',
      'Self change',
      92,
      (at) => (rows[at].isCut ? '' : measure.change(rows[at].node.self - rows[at].node.selfBefore)),
      { spare: 2 },
    ),
    nameColumn(options),
  ];
}
