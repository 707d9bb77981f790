// The flame graph for those who do not see it: the node that has the focus, what is above, beside and below it, as items of
// a tree. The table is the complete text of a profile; this is the graph's neighbourhood.
import { spoken } from '../engine/info';
import { around } from '../engine/walk';
import type { Seen } from './look';

export function twinId(prefix: string, node: number): string {
  return `${prefix}-${node}`;
}

export function Twin({ seen, node, prefix, shorten }: { seen: Seen; node: number; prefix: string; shorten: boolean }) {
  const { graph, labels } = seen;
  const near = around(graph, node);
  const level = graph.layout.depth[node] + 1;
  const item = (id: number, depth: number, place: number, size: number, expanded?: boolean) => (
    <div
      key={id}
      id={twinId(prefix, id)}
      role="treeitem"
      tabIndex={-1}
      aria-level={depth}
      aria-posinset={place}
      aria-setsize={size}
      aria-selected={id === node}
      aria-expanded={expanded}
    >
      {spoken(graph, labels, id, shorten)}
    </div>
  );
  return (
    <div class="hidden-text" role="none">
      {near.parent >= 0 && item(near.parent, level - 1, 1, 1, true)}
      {near.siblings.flatMap((id, i) => {
        const own = item(
          id,
          level,
          near.first + i + 1,
          near.siblingCount,
          id === node && near.childCount > 0 ? true : undefined,
        );
        if (id !== node) return [own];
        return [own, ...near.children.map((child, j) => item(child, level + 1, j + 1, near.childCount))];
      })}
    </div>
  );
}
