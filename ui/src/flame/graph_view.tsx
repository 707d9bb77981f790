// One flame graph in the page: canvas, minimap, the twin for screen readers, and what pointer and keyboard do with it.
import { useSignal, useSignalEffect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { FlameCanvas, type Point, rowHeight } from '../engine/flame_canvas';
import type { Hit } from '../engine/hit';
import { runText } from '../engine/info';
import { resolvePath } from '../engine/labels';
import { pathOf } from '../engine/tree';
import { step, type Way } from '../engine/walk';
import { hoveredFunction, selectedFunction, significantFunctions } from '../state/selection';
import { state } from '../state/store';
import { currentPalette, lookOf, type Seen, useForcedColors } from './look';
import { type MapHandle, MinimapView } from './minimap_view';
import { Twin, twinId } from './twin';

export interface GraphHandle {
  canvas: FlameCanvas;
  element: HTMLElement;
  target(): number; // what commands are about: under the pointer, else with the focus; -1 = nothing
  move(way: Way): void;
  focusNode(node: number): void; // and makes it visible
  seen: Seen;
}

export interface GraphProps {
  seen: Seen;
  name: string; // for screen readers
  prefix: string; // of ids
  flip: boolean;
  zoomed: number; // node that fills the width
  question: string; // what is shown, but for the time: the same question keeps the place that was chosen by hand
  half?: boolean; // of a pair
  handle: RefObject<GraphHandle | null>;
  canLoad: boolean; // what was cut
  onHover(seen: Seen, hit: Hit | null): void;
  onFocusNode(seen: Seen, node: number): void; // by keyboard
  onZoom(node: number): void;
  onCut(node: number): void;
  onMenu(seen: Seen, node: number, at: Point): void;
  onActive(handle: RefObject<GraphHandle | null>): void; // pointer or focus is here
}

// A click on bars too narrow to see goes to what holds them, unless that is where one is.
export function zoomTarget(seen: Seen, hit: Hit, zoomed: number): number {
  if (hit.kind !== 'run') return hit.node;
  const parent = seen.graph.tree.parent[hit.node];
  return parent === zoomed || parent < 0 ? hit.node : parent;
}

export function stepsTo(seen: Seen, node: number): string[] {
  const { tree } = seen.graph;
  return pathOf(tree, node).map((id) => seen.labels.step(tree.name[id]));
}

// The node of another graph that the same names lead to, for a focus that stays when more data comes.
function sameNode(before: Seen, node: number, now: Seen): number | undefined {
  const path = stepsTo(before, node);
  const { node: same, found } = resolvePath(now.graph.tree, now.labels, path);
  return found === path.length ? same : undefined;
}

export function GraphView(props: GraphProps) {
  const { seen, prefix, flip, zoomed, handle } = props;
  const current = state.value;
  const host = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const canvas = useRef<FlameCanvas | null>(null);
  const map = useRef<MapHandle | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const hovered = useRef(-1);
  const [focused, setFocused] = useState(0);
  const [height, setHeight] = useState(0);
  const hasFocus = useSignal(false);
  const jumped = useSignal(false); // the ring stays where a search went, though the focus is in its box
  const forced = useForcedColors();
  const palette = currentPalette(forced);
  const significant = significantFunctions.value;
  const look = useMemo(
    () => lookOf(seen, current, palette, forced, flip, significant),
    [seen, palette, forced, flip, significant, current.isolate, current.shorten],
  );

  useLayoutEffect(() => {
    const showTip = (hit: Hit | null, at: Point) => {
      const box = tip.current;
      if (!box) return;
      const wanted = hit && hit.kind !== 'bar';
      box.hidden = !wanted;
      if (!wanted) return;
      box.textContent = runText(latest.current.seen.graph, hit, latest.current.canLoad);
      const { left, width, top } = host.current!.getBoundingClientRect();
      box.style.left = `${Math.max(0, Math.min(at.x - left + 12, width - box.offsetWidth - 4))}px`;
      box.style.top = `${at.y - top + 18}px`;
    };
    const flame = new FlameCanvas(host.current!, {
      hover: (hit, at) => {
        const { seen: now, onHover, onActive } = latest.current;
        const node = hit?.kind === 'bar' ? hit.node : -1;
        if (hit) onActive(latest.current.handle);
        hovered.current = node;
        const name = node > 0 ? now.graph.tree.name[node] : -1;
        flame.setMarks({ hovered: node, occurrences: name >= 0 ? now.occurrences().of(name) : null });
        hoveredFunction.value = name >= 0 ? now.labels.step(name) : null;
        showTip(hit, at);
        onHover(now, hit);
      },
      click: (hit) => {
        const { seen: now, zoomed: where, onCut, onZoom } = latest.current;
        showTip(null, { x: 0, y: 0 });
        jumped.value = false;
        if (hit.kind === 'cut') onCut(hit.node);
        else {
          const node = zoomTarget(now, hit, where);
          setFocused(node);
          selectedFunction.value = node > 0 ? now.labels.step(now.graph.tree.name[node]) : null;
          onZoom(node);
        }
        host.current?.focus({ preventScroll: true });
      },
      menu: (hit, at) => {
        setFocused(hit.node);
        latest.current.onMenu(latest.current.seen, hit.node, at);
      },
      moved: () => map.current?.update(),
    });
    canvas.current = flame;
    const measure = () => setHeight(host.current?.clientHeight ?? 0);
    measure(); // the minimap takes its place before the first picture
    const sizes = new ResizeObserver(measure);
    sizes.observe(host.current!);
    return () => {
      sizes.disconnect();
      flame.dispose();
      canvas.current = null;
    };
  }, []);

  // The same graph moves to its new place, another one is there at once.
  const shown = useRef<{ seen: Seen; question: string; zoomed: string } | null>(null);
  useLayoutEffect(() => {
    canvas.current?.setLook(look);
  }, [look]);
  useLayoutEffect(() => {
    const before = shown.current;
    const flame = canvas.current;
    const { question } = props;
    const path = stepsTo(seen, zoomed).join('\n');
    shown.current = { seen, question, zoomed: path };
    const isNew = before?.seen.graph !== seen.graph;
    const stays = isNew && flame?.free && before?.question === question && before.zoomed === path;
    if (!stays) flame?.zoomTo(zoomed, !isNew);
    if (before && isNew) setFocused((node) => sameNode(before.seen, node, seen) ?? zoomed);
  }, [seen.graph, zoomed]);

  const node = focused < seen.graph.tree.count ? focused : 0;
  useEffect(() => {
    canvas.current?.setMarks({ focused: hasFocus.value || jumped.value ? node : -1 });
  }, [node, hasFocus.value, jumped.value, look]);

  // A function that is pointed at in another view. No rendering: this follows the pointer.
  useSignalEffect(() => {
    const elsewhere = hoveredFunction.value;
    if (hovered.current >= 0) return;
    const now = latest.current.seen;
    const names = elsewhere === null ? [] : now.labels.find(elsewhere);
    // Names that are alike are told apart by their binary; whoever points at one means all.
    const nodes = names.flatMap((name) => [...now.occurrences().of(name)]);
    canvas.current?.setMarks({ occurrences: nodes.length > 0 ? Uint32Array.from(nodes) : null });
  });

  const focusNode = (to: number) => {
    setFocused(to);
    jumped.value = true;
    canvas.current?.reveal(to);
    selectedFunction.value = to > 0 ? seen.labels.step(seen.graph.tree.name[to]) : null;
    props.onFocusNode(seen, to);
  };
  useLayoutEffect(() => {
    handle.current = {
      canvas: canvas.current!,
      element: host.current!,
      target: () => (hovered.current >= 0 ? hovered.current : hasFocus.peek() || jumped.peek() ? node : -1),
      move: (way) => focusNode(step(seen.graph, node, way)),
      focusNode,
      seen,
    };
  });

  const tall = seen.graph.layout.levels * rowHeight;
  return (
    <div class={props.half ? 'flame-graph flame-half' : 'flame-graph'}>
      <div
        ref={host}
        class="flame-host"
        role="tree"
        tabIndex={0}
        aria-label={props.name}
        aria-activedescendant={twinId(prefix, node)}
        style={{ height: `${tall + 2}px` }}
        onFocus={() => {
          hasFocus.value = true;
          props.onActive(handle);
        }}
        onBlur={() => {
          hasFocus.value = false;
          jumped.value = false;
        }}
        onContextMenu={(event) => {
          // By keyboard: by pointer the canvas has answered already.
          if (event.defaultPrevented) return;
          event.preventDefault();
          props.onMenu(seen, node, canvas.current!.pointOf(node));
        }}
      >
        <Twin seen={seen} node={node} prefix={prefix} shorten={current.shorten} />
        <div ref={tip} class="flame-tip" hidden />
      </div>
      {height > 0 && tall > height + rowHeight && (
        <MinimapView look={look} canvas={canvas} height={height} handle={map} />
      )}
    </div>
  );
}
