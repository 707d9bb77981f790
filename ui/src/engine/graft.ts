// A subtree that was asked for again, with a budget of its own, put in the place of the one that was cut.
import type { NameTable, StringTable } from './columns';
import { Labels, resolvePath } from './labels';
import { type Tree, treeOf } from './tree';

// Both tables as one: names of `more` are added unless they are known. `numbers` maps its names to those of the result.
function joinNames(base: Tree, more: Tree): { strings: StringTable; names: NameTable; numbers: Uint32Array } {
  const ours = new Labels(base).strings;
  const theirs = new Labels(more).strings;
  const known = new Map<string, number>();
  for (let i = 0; i < ours.count; i++) known.set(ours.get(i), i);
  const added: Uint8Array[] = [];
  const stringNumbers = new Uint32Array(theirs.count);
  let length = base.strings.bytes.length;
  const ends = [...base.strings.ends];
  for (let i = 0; i < theirs.count; i++) {
    const text = theirs.get(i);
    let number = known.get(text);
    if (number === undefined) {
      number = ends.length;
      const bytes = more.strings.bytes.subarray(i > 0 ? more.strings.ends[i - 1] : 0, more.strings.ends[i]);
      added.push(bytes);
      length += bytes.length;
      ends.push(length);
      known.set(text, number);
    }
    stringNumbers[i] = number;
  }
  const bytes = new Uint8Array(length);
  bytes.set(base.strings.bytes);
  let at = base.strings.bytes.length;
  for (const part of added) {
    bytes.set(part, at);
    at += part.length;
  }

  const key = (text: number, file: number, binary: number, line: number, kind: number) =>
    `${text},${file},${binary},${line},${kind}`;
  const rows: [number, number, number, number, number][] = [];
  const places = new Map<string, number>();
  const { names } = base;
  for (let i = 0; i < names.text.length; i++) {
    rows.push([names.text[i], names.file[i], names.binary[i], names.line[i], names.kind[i]]);
    places.set(key(...rows[i]), i);
  }
  const numbers = new Uint32Array(more.names.text.length);
  for (let i = 0; i < numbers.length; i++) {
    const row: [number, number, number, number, number] = [
      stringNumbers[more.names.text[i]],
      stringNumbers[more.names.file[i]],
      stringNumbers[more.names.binary[i]],
      more.names.line[i],
      more.names.kind[i],
    ];
    let number = places.get(key(...row));
    if (number === undefined) {
      number = rows.length;
      rows.push(row);
      places.set(key(...row), number);
    }
    numbers[i] = number;
  }
  const column = (which: number) => rows.map((row) => row[which]);
  return {
    strings: { bytes, ends: Uint32Array.from(ends) },
    names: {
      text: Uint32Array.from(column(0)),
      file: Uint32Array.from(column(1)),
      binary: Uint32Array.from(column(2)),
      line: Int32Array.from(column(3)),
      kind: Uint8Array.from(column(4)),
    },
    numbers,
  };
}

// The base is returned as it is when the path does not lead to a node of it: what is on screen has changed meanwhile.
export function graft(base: Tree, path: readonly string[], part: Tree): Tree {
  const { node, found } = resolvePath(base, new Labels(base), path);
  if (found !== path.length) return base;
  const joined = joinNames(base, part);
  const end = base.end[node];
  const count = base.count - (end - node) + part.count;
  const shift = part.count - (end - node); // of what stands behind
  const splice = (out: Float64Array | Uint32Array | Uint8Array, ours: ArrayLike<number>, theirs: ArrayLike<number>) => {
    for (let i = 0; i < node; i++) out[i] = ours[i];
    for (let i = 0; i < part.count; i++) out[node + i] = theirs[i];
    for (let i = end; i < base.count; i++) out[i + shift] = ours[i];
  };
  const parent = new Int32Array(count);
  parent.set(base.parent.subarray(0, node));
  parent[node] = base.parent[node];
  for (let i = 1; i < part.count; i++) parent[node + i] = part.parent[i] + node;
  for (let i = end; i < base.count; i++) {
    const above = base.parent[i];
    parent[i + shift] = above >= end ? above + shift : above;
  }
  const partNames = part.name.map((name) => joined.numbers[name]);
  // The root of a part is the frame itself: it keeps the name that it has here.
  partNames[0] = base.name[node];
  const name = new Uint32Array(count);
  splice(name, base.name, partNames);
  const cutNodes = new Uint32Array(count);
  splice(cutNodes, base.cutNodes, part.cutNodes);
  const inlined = new Uint8Array(count);
  if (base.inlined && part.inlined) splice(inlined, base.inlined, part.inlined);
  const side = (ours: Tree['after'], theirs: Tree['after']) => {
    const self = new Float64Array(count);
    const cut = new Float64Array(count);
    splice(self, ours.self, theirs.self);
    splice(cut, ours.cut, theirs.cut);
    return { self, cut };
  };
  return treeOf({
    header: base.header,
    strings: joined.strings,
    names: joined.names,
    count,
    parent,
    name,
    cutNodes,
    after: side(base.after, part.after),
    before: base.before && part.before ? side(base.before, part.before) : null,
    inlined: base.inlined && part.inlined ? inlined : null,
  });
}
