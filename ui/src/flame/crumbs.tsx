// Where one has zoomed to: the frames above, each a way back. Always there, so that nothing below it jumps.

import { nodeLabel } from '../engine/labels';
import { pathOf } from '../engine/tree';
import { clippedText } from '../text/safe';
import type { Seen } from './look';

const shown = 8;

export function Crumbs({
  seen,
  node,
  shorten,
  onZoom,
}: {
  seen: Seen;
  node: number;
  shorten: boolean;
  onZoom(node: number): void;
}) {
  const { tree } = seen.graph;
  const path = [0, ...pathOf(tree, node)];
  // The ends of a deep path say the most.
  const cut = path.length > shown ? path.length - shown : 0;
  const visible = cut > 0 ? [path[0], ...path.slice(cut + 1)] : path;
  return (
    <nav class="flame-crumbs" aria-label="Zoomed to">
      <ol>
        {visible.map((id, i) => (
          <li key={id}>
            {cut > 0 && i === 1 && <span class="muted">… {cut} more ›</span>}
            {id === node ? (
              <span aria-current="true">{clippedText(nodeLabel(tree, seen.labels, id, shorten), 60)}</span>
            ) : (
              <button type="button" class="quiet" onClick={() => onZoom(id)}>
                {clippedText(nodeLabel(tree, seen.labels, id, shorten), 28)}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
