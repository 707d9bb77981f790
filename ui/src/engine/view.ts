// Which part of the layout is on screen, and which bars that makes. Drawing and hit-testing both walk over `visitLevel`, so
// that what is pointed at is what was painted. All lengths of a screen are device pixels.
import type { Layout, Level } from './layout';

export interface View {
  x: number; // left edge, in weight
  width: number; // of what is on screen, in weight
  top: number; // pixels scrolled from the root on
}

export interface Screen {
  width: number;
  height: number;
  row: number; // height of a level
  flip: boolean; // the root at the bottom
}

// Bars ids[first .. last] as one: a single bar of a pixel or more, or a run of narrower ones.
export type Visit = (first: number, last: number, left: number, right: number) => boolean | undefined;

// The first of ids[from .. to) whose x is `value` or more, in strides that double: near ones are found fast.
function gallop(level: Level, from: number, to: number, value: number): number {
  const { ids, x } = level;
  let low = from;
  let stride = 1;
  while (low + stride < to && x[ids[low + stride]] < value) {
    low += stride;
    stride *= 2;
  }
  let high = Math.min(to, low + stride);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[ids[middle]] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The first bar of a level that reaches into the view.
export function firstInView(level: Level, depth: number, x: number): number {
  const { ids, starts } = level;
  let low = starts[depth];
  let high = starts[depth + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const id = ids[middle];
    if (level.x[id] + level.width[id] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

const shortestRun = 3; // pixels of one colour before another may follow, so that noise costs few rectangles

// From left to right; `visit` ends it by returning true. `bucket` tells colours apart, within a run too.
export function visitLevel(
  level: Level,
  depth: number,
  view: View,
  screenWidth: number,
  bucket: (id: number) => number,
  visit: Visit,
) {
  const { ids, starts, x, width } = level;
  const end = starts[depth + 1];
  const scale = screenWidth / view.width;
  const clamp = (pixel: number) => Math.max(0, Math.min(screenWidth, pixel));
  let at = firstInView(level, depth, view.x);
  let taken = 0; // pixels from the left that are painted; runs make way for bars, never bars for runs
  while (at < end) {
    const id = ids[at];
    const begin = (x[id] - view.x) * scale;
    if (begin >= screenWidth) return;
    if (width[id] * scale >= 1) {
      const left = Math.round(begin);
      const right = Math.max(left + 1, Math.round(begin + width[id] * scale));
      if (right > 0 && left < screenWidth && visit(at, at, clamp(left), clamp(right))) return;
      taken = right;
      at++;
      continue;
    }
    // A run: bars that begin within a pixel, then those of the next if they are narrow too and follow without a gap.
    const first = at;
    const color = bucket(id);
    const left = Math.max(taken, Math.floor(begin));
    let stop = begin;
    let limit = screenWidth; // where something else begins
    for (let column = Math.floor(begin); ; ) {
      // One at least, though rounding may say that it begins in the next pixel.
      const edge = view.x + (column + 1) / scale;
      const next = at + 1 >= end || x[ids[at + 1]] >= edge ? at + 1 : gallop(level, at + 1, end, edge);
      const lastId = ids[next - 1];
      // Only the last of those that begin in a pixel can be wider than a pixel.
      if (width[lastId] * scale >= 1) {
        at = next - 1;
        break;
      }
      at = next;
      stop = (x[lastId] + width[lastId] - view.x) * scale;
      if (at >= end) break;
      const nextId = ids[at];
      const nextBegin = (x[nextId] - view.x) * scale;
      if (nextBegin >= screenWidth || nextBegin > stop + 1 || width[nextId] * scale >= 1) break;
      column = Math.floor(nextBegin);
      if (column - left >= shortestRun && bucket(nextId) !== color) {
        limit = column;
        break;
      }
    }
    if (at < end && width[ids[at]] * scale >= 1) limit = Math.min(limit, Math.round((x[ids[at]] - view.x) * scale));
    const right = Math.min(limit, Math.max(left + 1, Math.round(stop)));
    if (right <= left) continue;
    taken = right;
    if (visit(first, at - 1, clamp(left), clamp(right))) return;
  }
}

// Levels that are at least partly on screen: from the first, up to but without the last.
export function levelsInView(layout: Layout, view: View, screen: Screen): [number, number] {
  const first = Math.max(0, Math.floor(view.top / screen.row));
  const last = Math.min(layout.levels, Math.ceil((view.top + screen.height) / screen.row));
  return [first, last];
}

// Top of a level on screen.
export function levelTop(depth: number, view: View, screen: Screen): number {
  const y = depth * screen.row - view.top;
  return screen.flip ? screen.height - y - screen.row : y;
}

export function wholeView(layout: Layout): View {
  return { x: 0, width: layout.width || 1, top: 0 };
}

// Not beyond the root, not below the last level, and never so near that numbers lose their meaning.
export function clampView(view: View, layout: Layout, screen: Screen): View {
  const whole = layout.width || 1;
  const width = Math.min(whole, Math.max(view.width, whole / 1e12));
  const x = Math.max(0, Math.min(view.x, whole - width));
  const most = Math.max(0, layout.levels * screen.row - screen.height);
  return { x, width, top: Math.max(0, Math.min(Math.round(view.top), most)) };
}

// The node over the whole width, a few of its callers above it still in sight.
export function viewOfNode(layout: Layout, node: number, screen: Screen, current: View): View {
  const width = layout.bars.width[node];
  const row = layout.depth[node] * screen.row;
  const context = Math.min(4 * screen.row, screen.height / 3);
  const inSight = row >= current.top && row < current.top + screen.height * 0.6;
  const top = inSight ? current.top : row - context;
  return clampView({ x: layout.bars.x[node], width: width > 0 ? width : layout.width, top }, layout, screen);
}

// Towards a point of the screen (a pixel from the left), which stays where it is.
export function zoomAt(view: View, factor: number, pixel: number, layout: Layout, screen: Screen): View {
  const width = view.width * factor;
  const point = view.x + (pixel / screen.width) * view.width;
  return clampView({ x: point - (pixel / screen.width) * width, width, top: view.top }, layout, screen);
}

export function pan(view: View, dx: number, dy: number, layout: Layout, screen: Screen): View {
  const x = view.x - (dx / screen.width) * view.width;
  return clampView({ ...view, x, top: view.top - (screen.flip ? -dy : dy) }, layout, screen);
}
