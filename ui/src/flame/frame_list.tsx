// A list of frames to go to: matches of a search, or what only the baseline has. Opens beside the graph, closes with
// Escape.
import { useEffect, useRef } from 'preact/hooks';
import { wholeOf } from '../engine/info';
import { nodeLabel } from '../engine/labels';
import { pathOf } from '../engine/tree';
import { formatCount, formatShare } from '../text/format';
import { measureOf } from '../text/measure';
import { clippedText } from '../text/safe';
import type { Seen } from './look';

const most = 200;

export function FrameList(props: {
  title: string;
  seen: Seen;
  nodes: ArrayLike<number>;
  count: number; // of all, though not all are in the list
  before?: boolean; // weights of the baseline
  shorten: boolean;
  onChoose(node: number): void;
  onClose(): void;
}) {
  const { seen, nodes, shorten } = props;
  const { tree } = seen.graph;
  const measure = measureOf(tree.header);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const back = document.activeElement as HTMLElement | null;
    (box.current?.querySelector('li button') as HTMLElement | null)?.focus();
    return () => back?.focus();
  }, []);
  const close = useRef(props.onClose);
  close.current = props.onClose;
  useEffect(() => {
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close.current();
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);
  const total = props.before && tree.before ? tree.before.total : tree.after.total;
  const list = Array.from({ length: Math.min(most, nodes.length) }, (_, i) => nodes[i]);
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      props.onClose();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    event.stopPropagation();
    const buttons = [...box.current!.querySelectorAll<HTMLElement>('li button')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[Math.max(0, Math.min(buttons.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))]?.focus();
  };
  return (
    <div ref={box} class="flame-list" role="dialog" aria-label={props.title} onKeyDown={move}>
      <div class="row spread">
        <b>{props.title}</b>
        <button type="button" class="quiet" aria-label="Close the list" onClick={props.onClose}>
          ×
        </button>
      </div>
      <ol>
        {list.map((node) => {
          const path = pathOf(tree, node);
          const above = path.slice(-3, -1).map((id) => nodeLabel(tree, seen.labels, id, shorten));
          return (
            <li key={node}>
              <button type="button" class="quiet" onClick={() => props.onChoose(node)}>
                <span class="flame-list-value">{measure.value(total[node])}</span>
                <span class="flame-list-share">{formatShare(total[node], wholeOf(seen.graph))}</span>
                <span class="flame-list-name">
                  {clippedText(nodeLabel(tree, seen.labels, node, shorten), 90)}
                  {above.length > 0 && <span class="muted"> in {clippedText(above.join(' › '), 80)}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
      {props.count > list.length && (
        <p class="muted">
          The {formatCount(list.length)} heaviest of {formatCount(props.count)}.
        </p>
      )}
    </div>
  );
}
