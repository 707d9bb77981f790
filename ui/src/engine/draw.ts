// Paints what is in view on a 2D context: bars in order of their colour, so that the context changes its style a few dozen
// times only, then hatches, then text. Widths of text are counted, not measured: the font has one width.

import { oneBucket } from './hit';
import type { Graph } from './job';
import type { Palette } from './palette';
import { levelsInView, levelTop, type Screen, type View, visitLevel } from './view';

// What is used of CanvasRenderingContext2D; tests record it.
export type Context = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'font'
  | 'textBaseline'
  | 'fillRect'
  | 'strokeRect'
  | 'fillText'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'closePath'
  | 'fill'
>;

// How a bar looks: its bucket and what a search or the legend says of it.
export const fadedStyle = 64;
export const matchStyle = 128;

export interface Scene {
  graph: Graph;
  view: View;
  screen: Screen;
  palette: Palette;
  style(node: number): number;
  label(node: number): string;
  matches: Uint32Array | null; // places of bars in the layout's order that a search found, ascending
  isNew: ((node: number) => boolean) | null; // in a comparison
  lost: ((node: number) => boolean) | null; // has lost children since the baseline
  font: string; // of one width
  inlined: ((node: number) => boolean) | null; // frames that were inlined have slanted text
  charWidth: number;
  ratio: number; // device pixels to a pixel of the page
  forced: boolean; // forced colours: bars have borders
  cutHatch: string | CanvasPattern;
  newHatch: string | CanvasPattern;
}

export const labelWidth = 24; // pixels of the page; narrower bars have no text

export function cellsOf(text: string): number {
  let cells = 0;
  for (let i = 0; i < text.length; i++) cells += text.charCodeAt(i) >= 0x1100 ? 2 : 1;
  return cells;
}

// As much of a name as fits. When not all of it does, the function alone says more than its namespaces.
export function fitLabel(text: string, cells: number): string {
  if (cells < 1) return '';
  if (text.length <= cells && cellsOf(text) <= cells) return text;
  const at = Math.max(text.lastIndexOf('::') + 2, text.lastIndexOf('.') + 1);
  const tail = at >= 2 && text.length - at >= 3 ? text.slice(at) : text;
  // With brackets in it the last part is one of the parameters.
  const last = /[<>(),]/.test(tail) ? text : tail;
  if (cellsOf(last) <= cells) return last;
  if (cells < 3) return '';
  let used = 1;
  let end = 0;
  while (end < last.length) {
    const width = last.charCodeAt(end) >= 0x1100 ? 2 : 1;
    if (used + width > cells) break;
    used += width;
    end++;
  }
  return `${last.slice(0, end)}…`;
}

// The first place of `places` that is `value` or more.
function lowerBound(places: Uint32Array, value: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Rectangles {
  readonly all: number[][] = [];
  add(style: number, left: number, top: number, width: number) {
    let list = this.all[style];
    if (!list) {
      list = [];
      this.all[style] = list;
    }
    list.push(left, top, width);
  }
}

export interface Drawn {
  rectangles: number;
  labels: number;
}

export function draw(context: Context, scene: Scene): Drawn {
  const { graph, view, screen, palette, ratio } = scene;
  const { layout } = graph;
  const { bars, cuts } = layout;
  const height = screen.row - Math.max(1, Math.round(ratio));
  const border = Math.max(1, Math.round(ratio));
  const least = labelWidth * ratio;
  const rectangles = new Rectangles();
  const hatched: number[] = [];
  const cutBars: number[] = [];
  const lost: number[] = [];
  const texts: number[] = []; // left, right, top, node
  let count = 0;

  const [firstLevel, lastLevel] = levelsInView(layout, view, screen);
  for (let depth = firstLevel; depth < lastLevel; depth++) {
    const top = levelTop(depth, view, screen);
    visitLevel(bars, depth, view, screen.width, scene.style, (first, last, left, right) => {
      const node = bars.ids[first];
      const style = scene.style(node);
      const width = right - left;
      const shown = width > 3 * border ? width - border : width;
      rectangles.add(style, left, top, shown);
      count++;
      if (first < last) {
        if (scene.matches && style < matchStyle) markMatches(scene, first, last, left, right, top, rectangles);
        return undefined;
      }
      if (width > 3 * border) {
        if (scene.isNew?.(node)) hatched.push(left, top, shown);
        if (width >= least && scene.lost?.(node)) lost.push(left + shown, top);
      }
      if (width >= least) texts.push(left, left + shown, top, node);
      return undefined;
    });
    visitLevel(cuts, depth, view, screen.width, oneBucket, (_first, _last, left, right) => {
      cutBars.push(left, top, Math.max(1, right - left - (right - left > 3 * border ? border : 0)));
      count++;
      return undefined;
    });
  }

  context.fillStyle = palette.ground;
  context.fillRect(0, 0, screen.width, screen.height);
  const fillAll = (fill: string | CanvasPattern, list: number[], tall: number) => {
    context.fillStyle = fill;
    for (let i = 0; i < list.length; i += 3) context.fillRect(list[i], list[i + 1], list[i + 2], tall);
  };
  // Below the bars, which win where both want a pixel.
  if (cutBars.length > 0) {
    fillAll(scene.cutHatch, cutBars, height);
    // The line on top keeps the place of a cut in sight where it is too narrow for a hatch.
    fillAll(palette.line, cutBars, border);
  }
  rectangles.all.forEach((list, style) => {
    context.fillStyle = fillOf(palette, style);
    for (let i = 0; i < list.length; i += 3) context.fillRect(list[i], list[i + 1], list[i + 2], height);
    if (scene.forced) {
      context.strokeStyle = palette.line;
      context.lineWidth = border;
      for (let i = 0; i < list.length; i += 3) {
        context.strokeRect(
          list[i] + border / 2,
          list[i + 1] + border / 2,
          Math.max(0, list[i + 2] - border),
          height - border,
        );
      }
    }
  });
  if (hatched.length > 0) fillAll(scene.newHatch, hatched, height);
  if (lost.length > 0) {
    // A notch at the right end: something that was below is not there any more.
    context.fillStyle = palette.less;
    context.beginPath();
    const size = Math.round(7 * ratio);
    for (let i = 0; i < lost.length; i += 2) {
      const [right, top] = [lost[i], lost[i + 1]];
      const base = screen.flip ? top : top + height;
      context.moveTo(right, base);
      context.lineTo(right - size, base);
      context.lineTo(right, screen.flip ? base + size : base - size);
      context.closePath();
    }
    context.fill();
  }
  return { rectangles: count, labels: drawTexts(context, scene, texts, height) };
}

export function fillOf(palette: Palette, style: number): string {
  if (style >= matchStyle) return palette.match.fill;
  return style >= fadedStyle ? palette.faded[style - fadedStyle] : palette.fills[style];
}

// Bars of a run that a search found, each at its pixel: they are too narrow to be seen otherwise.
function markMatches(
  scene: Scene,
  first: number,
  last: number,
  left: number,
  right: number,
  top: number,
  rectangles: Rectangles,
) {
  const { bars } = scene.graph.layout;
  const { view, screen } = scene;
  const scale = screen.width / view.width;
  const places = scene.matches!;
  let drawn = -1;
  for (let i = lowerBound(places, first); i < places.length && places[i] <= last; i++) {
    const pixel = Math.max(left, Math.min(right - 1, Math.floor((bars.x[bars.ids[places[i]]] - view.x) * scale)));
    if (pixel <= drawn) continue;
    rectangles.add(matchStyle, pixel, top, 1);
    drawn = pixel;
  }
}

function drawTexts(context: Context, scene: Scene, texts: number[], height: number): number {
  const { palette, ratio, charWidth } = scene;
  context.font = scene.font;
  context.textBaseline = 'middle';
  const padding = Math.round(4 * ratio);
  const middle = Math.round(height / 2) + Math.round(ratio);
  let drawn = 0;
  let ink = '';
  let slanted = false;
  for (let i = 0; i < texts.length; i += 4) {
    const [left, right, top, node] = [texts[i], texts[i + 1], texts[i + 2], texts[i + 3]];
    const text = fitLabel(scene.label(node), Math.floor((right - left - 2 * padding) / charWidth));
    if (!text) continue;
    const style = scene.style(node);
    const wanted = style >= matchStyle ? palette.match.ink : style >= fadedStyle ? palette.fadedInk : palette.ink;
    if (wanted !== ink) {
      context.fillStyle = wanted;
      ink = wanted;
    }
    const slants = scene.inlined?.(node) ?? false;
    if (slants !== slanted) {
      context.font = slants ? `italic ${scene.font}` : scene.font;
      slanted = slants;
    }
    context.fillText(text, left + padding, top + middle);
    drawn++;
  }
  return drawn;
}

export interface Marks {
  occurrences: Uint32Array | null; // nodes of the function that is pointed at
  hovered: number; // node; -1 = none
  focused: number;
}

// What changes with every move of the pointer, on a canvas of its own.
export function drawMarks(context: Context, scene: Scene, marks: Marks) {
  const { graph, view, screen, palette, ratio } = scene;
  const { bars, depth } = graph.layout;
  const scale = screen.width / view.width;
  const height = screen.row - Math.max(1, Math.round(ratio));
  const line = Math.max(1, Math.round(1.5 * ratio));
  const box = (node: number): [left: number, top: number, width: number] | null => {
    const begin = (bars.x[node] - view.x) * scale;
    const end = begin + bars.width[node] * scale;
    if (end <= 0 || begin >= screen.width || bars.width[node] <= 0) return null;
    const top = levelTop(depth[node], view, screen);
    if (top + screen.row <= 0 || top >= screen.height) return null;
    const left = Math.max(-2 * line, Math.round(begin));
    const right = Math.min(screen.width + 2 * line, Math.max(Math.round(begin) + 1, Math.round(end)));
    return [left, top, right - left];
  };
  if (marks.occurrences) {
    context.strokeStyle = palette.hover;
    context.fillStyle = palette.hover;
    context.lineWidth = line;
    let drawn = 0;
    for (const node of marks.occurrences) {
      const found = box(node);
      if (!found) continue;
      const [left, top, width] = found;
      if (width > 3 * line) context.strokeRect(left + line / 2, top + line / 2, width - line - 1, height - line);
      else context.fillRect(left, top, Math.max(1, width), height);
      if (++drawn > 20_000) break;
    }
  }
  const ring = (node: number, color: string, thickness: number) => {
    const found = box(node);
    if (!found) return;
    const [left, top, width] = found;
    context.strokeStyle = color;
    context.lineWidth = thickness;
    context.strokeRect(left + thickness / 2, top + thickness / 2, Math.max(1, width - thickness), height - thickness);
  };
  if (marks.hovered >= 0) ring(marks.hovered, palette.hover, line);
  if (marks.focused >= 0) {
    // A line of the ground within it parts the ring from bars of its own colour.
    ring(marks.focused, palette.ground, 3 * ratio);
    ring(marks.focused, palette.focus, 2 * ratio);
  }
}
