// Makes a tree of nodes that come in any order, each after its parent: equal children of one parent become one. At the end
// children are put in order and everything is written down in pre-order.
import { type Tree, treeOf } from './tree';

class Numbers {
  array = new Float64Array(1024);
  length = 0;
  push(value: number) {
    if (this.length === this.array.length) {
      const larger = new Float64Array(this.array.length * 2);
      larger.set(this.array);
      this.array = larger;
    }
    this.array[this.length++] = value;
  }
}

export class TreeBuilder {
  private readonly parents = new Numbers();
  private readonly names = new Numbers();
  private readonly columns = Array.from({ length: 5 }, () => new Numbers()); // self, cut, cut nodes, self and cut before
  private readonly inlined = new Numbers();
  private readonly known = new Map<number, number>();
  private readonly nameCount: number;

  constructor(private readonly like: Tree) {
    this.nameCount = like.names.text.length;
    this.push(-1, like.name[0]);
  }

  // The child of that name, new or known. The root is 0. It is inlined if all nodes of the other tree are that it stands for.
  child(parent: number, name: number, from = -1): number {
    const key = parent * this.nameCount + name;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.push(parent, name);
      this.known.set(key, node);
      this.inlined.array[node] = this.like.inlined?.[from] ?? 0;
    } else if (!this.like.inlined?.[from]) {
      this.inlined.array[node] = 0;
    }
    return node;
  }

  // What ends at a node of the other tree, times nothing: its self weight, and its cuts if wanted.
  addSelf(node: number, from: number) {
    const { after, before } = this.like;
    this.add(node, after.self[from], before?.self[from] ?? 0);
  }
  add(node: number, self: number, selfBefore: number) {
    this.columns[0].array[node] += self;
    this.columns[3].array[node] += selfBefore;
  }
  addCut(node: number, from: number) {
    const { after, before, cutNodes } = this.like;
    this.columns[1].array[node] += after.cut[from];
    this.columns[2].array[node] += cutNodes[from];
    if (before) this.columns[4].array[node] += before.cut[from];
  }

  setRoot(name: number) {
    this.names.array[0] = name;
  }

  // `rank` orders names.
  finish(rank: Uint32Array): Tree {
    const count = this.parents.length;
    const parent = Int32Array.from(this.parents.array.subarray(0, count));
    const names = this.names.array;
    const order = preorder(parent, (a, b) => rank[names[a]] - rank[names[b]]);
    const take = (numbers: Numbers) => numbers.array.subarray(0, count);
    return arrange(this.like, order, {
      parent,
      name: take(this.names),
      self: take(this.columns[0]),
      cut: take(this.columns[1]),
      cutNodes: take(this.columns[2]),
      selfBefore: this.like.before ? take(this.columns[3]) : null,
      cutBefore: this.like.before ? take(this.columns[4]) : null,
      inlined: this.like.inlined ? take(this.inlined) : null,
    });
  }

  private push(parent: number, name: number): number {
    this.parents.push(parent);
    this.names.push(name);
    for (const column of this.columns) column.push(0);
    this.inlined.push(0);
    return this.parents.length - 1;
  }
}

type Column = Float64Array | Uint32Array;
export interface LooseNodes {
  parent: Int32Array;
  name: Column;
  self: Column;
  cut: Column;
  cutNodes: Column;
  selfBefore: Column | null;
  cutBefore: Column | null;
  inlined: Column | Uint8Array | null;
}

// Nodes in the order in which they are to stand; parents before children at the start as well as at the end.
export function preorder(parent: Int32Array, compare: (a: number, b: number) => number): Uint32Array {
  const count = parent.length;
  const start = new Uint32Array(count + 1);
  for (let i = 1; i < count; i++) start[parent[i] + 1]++;
  for (let i = 0; i < count; i++) start[i + 1] += start[i];
  const fill = start.slice(0, count);
  const children = new Uint32Array(Math.max(0, count - 1));
  for (let i = 1; i < count; i++) children[fill[parent[i]]++] = i;
  for (let i = 0; i < count; i++) {
    if (start[i + 1] - start[i] > 1) children.subarray(start[i], start[i + 1]).sort(compare);
  }
  const order = new Uint32Array(count);
  const stack = [0];
  for (let at = 0; at < count; at++) {
    const node = stack.pop()!;
    order[at] = node;
    for (let i = start[node + 1]; i-- > start[node]; ) stack.push(children[i]);
  }
  return order;
}

export function arrange(like: Tree, order: Uint32Array, nodes: LooseNodes): Tree {
  const count = order.length;
  const place = new Uint32Array(nodes.parent.length);
  for (let at = 0; at < count; at++) place[order[at]] = at;
  const parent = new Int32Array(count);
  const name = new Uint32Array(count);
  const cutNodes = new Uint32Array(count);
  const move = (column: Column) => {
    const out = new Float64Array(count);
    for (let at = 0; at < count; at++) out[at] = column[order[at]];
    return out;
  };
  for (let at = 0; at < count; at++) {
    const node = order[at];
    parent[at] = nodes.parent[node] < 0 ? -1 : place[nodes.parent[node]];
    name[at] = nodes.name[node];
    cutNodes[at] = nodes.cutNodes[node];
  }
  const { header, strings, names } = like;
  return treeOf({
    header,
    strings,
    names,
    count,
    parent,
    name,
    cutNodes,
    after: { self: move(nodes.self), cut: move(nodes.cut) },
    before: nodes.selfBefore && nodes.cutBefore ? { self: move(nodes.selfBefore), cut: move(nodes.cutBefore) } : null,
    inlined: nodes.inlined && Uint8Array.from(order, (node) => nodes.inlined![node]),
  });
}

// Place of each name in their alphabetical order.
export function rankNames(count: number, step: (name: number) => string): Uint32Array {
  const texts = Array.from({ length: count }, (_, name) => step(name));
  const order = Uint32Array.from(texts.keys()).sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0));
  const rank = new Uint32Array(count);
  order.forEach((name, at) => {
    rank[name] = at;
  });
  return rank;
}
