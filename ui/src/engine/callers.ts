// The server's answer on one function as two trees. It names frames by their step only; what else is known of a name is
// taken from the flame graph that is loaded already.

import { rankNames, TreeBuilder } from './builder';
import { ColumnsError } from './columns';
import { Labels } from './labels';
import type { Tree } from './tree';

interface JsonNode {
  parent: number;
  name: string;
  self: number;
  cut?: { nodes: number; self: number };
}

function fail(): never {
  throw new ColumnsError('the callers cannot be read: the answer is not what was expected');
}

// The tree of the whole, with all names that the nodes need.
function withNames(
  like: Tree,
  labels: Labels,
  steps: readonly string[],
): { tree: Tree; numberOf(step: string): number } {
  const numbers = new Map<string, number>();
  const added: string[] = [];
  const count = labels.count;
  for (const step of steps) {
    if (numbers.has(step)) continue;
    const known = labels.find(step)[0];
    if (known !== undefined) numbers.set(step, known);
    else {
      numbers.set(step, count + added.length);
      added.push(step);
    }
  }
  if (added.length === 0) return { tree: like, numberOf: (step) => numbers.get(step)! };
  const encoded = added.map((text) => new TextEncoder().encode(text));
  const { strings, names } = like;
  const bytes = new Uint8Array(strings.bytes.length + encoded.reduce((sum, part) => sum + part.length, 0));
  const ends = new Uint32Array(strings.ends.length + added.length);
  bytes.set(strings.bytes);
  ends.set(strings.ends);
  let at = strings.bytes.length;
  encoded.forEach((part, i) => {
    bytes.set(part, at);
    at += part.length;
    ends[strings.ends.length + i] = at;
  });
  const grown = <T extends Uint32Array | Int32Array | Uint8Array>(column: T): T => {
    const out = new (column.constructor as new (length: number) => T)(count + added.length);
    out.set(column);
    return out;
  };
  const more = {
    text: grown(names.text),
    file: grown(names.file),
    binary: grown(names.binary),
    line: grown(names.line),
    kind: grown(names.kind),
  };
  // In what a group calls it: a binary's or file's name stands in its own column.
  const column = labels.group === 'binary' ? more.binary : labels.group === 'file' ? more.file : more.text;
  for (let i = 0; i < added.length; i++) column[count + i] = strings.ends.length + i;
  return { tree: { ...like, strings: { bytes, ends }, names: more }, numberOf: (step) => numbers.get(step)! };
}

export function callersOf(like: Tree, answer: unknown): { callers: Tree; callees: Tree } {
  const { caller_tree, callee_tree } = answer as Record<string, { nodes?: JsonNode[] } | undefined>;
  const lists = [caller_tree?.nodes, callee_tree?.nodes].map((nodes) =>
    Array.isArray(nodes) && nodes.length > 0 ? nodes : fail(),
  );
  const labels = new Labels(like);
  const { tree, numberOf } = withNames(
    like,
    labels,
    lists.flatMap((nodes) => nodes.map((node) => String(node.name))),
  );
  const all = new Labels(tree);
  const rank = rankNames(all.count, (name) => all.step(name));
  const single: Tree = {
    ...tree,
    header: { ...tree.header, baseline: false },
    cutNodes: new Uint32Array(1),
    after: { self: new Float64Array(1), cut: new Float64Array(1), total: new Float64Array(1) },
    before: null,
    inlined: null,
  };
  const [callers, callees] = lists.map((nodes) => {
    const builder = new TreeBuilder(single);
    const made = new Uint32Array(nodes.length);
    builder.setRoot(numberOf(String(nodes[0].name)));
    nodes.forEach((node, i) => {
      if (i > 0) {
        if (!(node.parent >= 0 && node.parent < i)) fail();
        made[i] = builder.child(made[node.parent], numberOf(String(node.name)));
      }
      builder.add(made[i], Number(node.self) || 0, 0);
      if (node.cut) {
        single.cutNodes[0] = Number(node.cut.nodes) || 0;
        single.after.cut[0] = Number(node.cut.self) || 0;
        builder.addCut(made[i], 0);
      }
    });
    return builder.finish(rank);
  });
  return { callers, callees };
}
