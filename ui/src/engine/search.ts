// What a search finds: names first, of which there are few, then the bars that have them. A stack counts once, however many
// of its frames match.
import type { Graph } from './job';
import type { Labels } from './labels';

export interface Found {
  names: Uint8Array; // by name: whether it matches
  places: Uint32Array; // in the order of the layout, for drawing
  count: number; // bars
  weight: number; // of stacks with a match
}

// Only names of `among` are looked at, if it is given: one more letter finds no more than the letters before.
export function search(graph: Graph, labels: Labels, test: (step: string) => boolean, among?: Uint8Array): Found {
  const { tree, layout } = graph;
  const names = new Uint8Array(labels.count);
  for (let name = 0; name < names.length; name++) {
    if (!among || among[name]) names[name] = test(labels.step(name)) ? 1 : 0;
  }
  // The name of the root stands for everything.
  if (labels.step(tree.name[0]) === '') names[tree.name[0]] = 0;
  const { ids } = layout.bars;
  let count = 0;
  for (let at = 0; at < ids.length; at++) count += names[tree.name[ids[at]]];
  const places = new Uint32Array(count);
  for (let at = 0, to = 0; at < ids.length && to < count; at++) if (names[tree.name[ids[at]]]) places[to++] = at;
  let weight = 0;
  for (let node = 0; node < tree.count; ) {
    if (names[tree.name[node]]) {
      weight += tree.after.total[node];
      node = tree.end[node];
    } else {
      node++;
    }
  }
  return { names, places, count, weight };
}

// Whether all that `after` finds was found by `before`. Expressions are anybody's guess.
export function narrows(before: string, after: string): boolean {
  return before.trim() !== '' && !before.startsWith('/') && !after.startsWith('/') && after.includes(before);
}

// Bars that were found, the heaviest first: what n and N walk over, and what the list shows.
export function heaviest(graph: Graph, found: Found, most = 10_000): Uint32Array {
  const { total } = graph.tree.after;
  const nodes = found.places.map((place) => graph.layout.bars.ids[place]);
  nodes.sort((a, b) => total[b] - total[a] || a - b);
  return nodes.subarray(0, most);
}

// Nodes by their name, for lighting up all bars of a function.
export class Occurrences {
  private readonly starts: Uint32Array;
  private readonly nodes: Uint32Array;
  constructor(graph: Graph) {
    const { tree } = graph;
    this.starts = new Uint32Array(tree.names.text.length + 1);
    for (let i = 0; i < tree.count; i++) this.starts[tree.name[i] + 1]++;
    for (let i = 1; i < this.starts.length; i++) this.starts[i] += this.starts[i - 1];
    const fill = this.starts.slice();
    this.nodes = new Uint32Array(tree.count);
    for (let i = 0; i < tree.count; i++) this.nodes[fill[tree.name[i]]++] = i;
  }
  of(name: number): Uint32Array {
    return this.nodes.subarray(this.starts[name], this.starts[name + 1]);
  }
}
