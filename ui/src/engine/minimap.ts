// The whole graph in a narrow strip, for graphs that are deeper than the screen: shows where the window is, and moves it.

import { type Context, fillOf } from './draw';
import type { Graph } from './job';
import type { Palette } from './palette';
import { type Screen, type View, visitLevel } from './view';

export interface MapLook {
  graph: Graph;
  palette: Palette;
  flip: boolean;
  style(node: number): number;
}

// Levels of a fraction of a pixel are drawn one in each pixel.
export function drawMap(
  context: Pick<Context, 'fillStyle' | 'fillRect'>,
  look: MapLook,
  width: number,
  height: number,
) {
  const { graph, palette, flip } = look;
  const { layout } = graph;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  const tall = height / layout.levels;
  const view: View = { x: 0, width: layout.width || 1, top: 0 };
  const rectangles: number[][] = [];
  let lastTop = -1;
  for (let depth = 0; depth < layout.levels; depth++) {
    const top = Math.floor(depth * tall);
    if (top === lastTop) continue;
    lastTop = top;
    const y = flip ? height - top - Math.max(1, Math.ceil(tall)) : top;
    visitLevel(layout.bars, depth, view, width, look.style, (first, _last, left, right) => {
      const style = look.style(layout.bars.ids[first]);
      if (!rectangles[style]) rectangles[style] = [];
      rectangles[style].push(left, y, right - left);
      return undefined;
    });
  }
  const rowTall = Math.max(1, Math.ceil(tall));
  rectangles.forEach((list, style) => {
    context.fillStyle = fillOf(palette, style);
    for (let i = 0; i < list.length; i += 3) context.fillRect(list[i], list[i + 1], list[i + 2], rowTall);
  });
}

// The window on the map, as shares of its size.
export function windowOnMap(graph: Graph, view: View, screen: Screen) {
  const whole = Math.max(1, graph.layout.levels * screen.row);
  const top = view.top / whole;
  const height = Math.min(1, screen.height / whole);
  return {
    left: view.x / (graph.layout.width || 1),
    width: Math.min(1, view.width / (graph.layout.width || 1)),
    top: screen.flip ? Math.max(0, 1 - top - height) : top,
    height,
  };
}

// The view whose window has its middle at a point of the map.
export function viewAtMap(graph: Graph, view: View, screen: Screen, x: number, y: number): View {
  const whole = graph.layout.levels * screen.row;
  const down = screen.flip ? 1 - y : y;
  return {
    x: x * graph.layout.width - view.width / 2,
    width: view.width,
    top: down * whole - screen.height / 2,
  };
}
