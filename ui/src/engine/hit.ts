// What is under a point: a bar, a run of bars too narrow to show, or what was cut.
import type { Graph } from './job';
import { levelTop, type Screen, type View, visitLevel } from './view';

export interface Hit {
  kind: 'bar' | 'run' | 'cut';
  node: number; // of a run its heaviest; of a cut the node above it
  count: number; // bars of a run, nodes that were cut
  weight: number;
  depth: number;
  left: number; // as painted
  right: number;
}

export function hitTest(
  graph: Graph,
  view: View,
  screen: Screen,
  bucket: (node: number) => number,
  px: number,
  py: number,
): Hit | null {
  const { layout, tree } = graph;
  const y = screen.flip ? screen.height - py : py;
  const depth = Math.floor((y + view.top) / screen.row);
  if (depth < 0 || depth >= layout.levels || px < 0 || px >= screen.width) return null;
  // The pixel between two levels belongs to none of them, as none was painted there.
  const top = levelTop(depth, view, screen);
  if (py < top || py >= top + screen.row) return null;
  let hit: Hit | null = null;
  const { bars, cuts } = layout;
  visitLevel(bars, depth, view, screen.width, bucket, (first, last, left, right) => {
    if (px < left) return true;
    if (px >= right) return undefined;
    let node = bars.ids[first];
    let weight = 0;
    for (let at = first; at <= last; at++) {
      const id = bars.ids[at];
      weight += tree.after.total[id];
      if (tree.after.total[id] > tree.after.total[node]) node = id;
    }
    hit = { kind: first === last ? 'bar' : 'run', node, count: last - first + 1, weight, depth, left, right };
    return true;
  });
  if (hit) return hit;
  visitLevel(cuts, depth, view, screen.width, oneBucket, (first, last, left, right) => {
    if (px < left) return true;
    if (px >= right) return undefined;
    let node = cuts.node[cuts.ids[first]];
    let weight = 0;
    let count = 0;
    for (let at = first; at <= last; at++) {
      const id = cuts.node[cuts.ids[at]];
      weight += tree.after.cut[id];
      count += tree.cutNodes[id];
      if (tree.after.cut[id] > tree.after.cut[node]) node = id;
    }
    hit = { kind: 'cut', node, count, weight, depth, left, right };
    return true;
  });
  return hit;
}

export const oneBucket = () => 0;
