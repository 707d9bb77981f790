// The strip beside a graph that is deeper than the screen.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FlameCanvas, Look } from '../engine/flame_canvas';
import { drawMap, viewAtMap, windowOnMap } from '../engine/minimap';

export interface MapHandle {
  update(): void; // after the view has moved
}

const width = 72;

export function MinimapView({
  look,
  canvas,
  height,
  handle,
}: {
  look: Look;
  canvas: RefObject<FlameCanvas | null>;
  height: number;
  handle: RefObject<MapHandle | null>;
}) {
  const map = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const ratio = window.devicePixelRatio || 1;
    const element = map.current!;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext('2d', { alpha: false });
    if (context) drawMap(context, look, element.width, element.height);
  }, [look, height]);
  const update = () => {
    const flame = canvas.current;
    const box = frame.current;
    if (!flame || !box) return;
    const part = windowOnMap(look.graph, flame.view, flame.screen);
    box.style.left = `${part.left * 100}%`;
    box.style.width = `${part.width * 100}%`;
    box.style.top = `${part.top * 100}%`;
    box.style.height = `${part.height * 100}%`;
  };
  handle.current = { update };
  useEffect(update);
  const move = (event: PointerEvent) => {
    const flame = canvas.current;
    if (!flame || event.buttons === 0) return;
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const view = viewAtMap(
      look.graph,
      flame.view,
      flame.screen,
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height,
    );
    flame.goTo(view, false);
  };
  // Only for the pointer: by keyboard the graph itself moves.
  return (
    <div
      class="flame-map"
      aria-hidden="true"
      onPointerDown={(event) => {
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={move}
    >
      <canvas ref={map} />
      <div class="flame-map-window" ref={frame} />
    </div>
  );
}
