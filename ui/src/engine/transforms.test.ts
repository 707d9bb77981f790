import { describe, expect, it } from 'vitest';
import { decodeColumns } from './columns';
import { build } from './job';
import { Labels, resolvePath } from './labels';
import { narrows, search } from './search';
import { encodeColumns, type NodeRow } from './testing/encode';
import { graphOf, plainJob } from './testing/scenes';
import { syntheticColumns } from './testing/synthetic';
import { collapseRecursion, onlyMatching, orderByWeight, sandwich } from './transforms';
import { childrenOf, cutBelow, pathOf, type Tree, treeOf } from './tree';
import { invert } from './turning';

// "a;b 3" lines as a tree; names in order of their first use.
function treeFrom(stacks: Record<string, number>): Tree {
  const names = ['', ...new Set(Object.keys(stacks).flatMap((stack) => stack.split(';')))];
  const nodes: NodeRow[] = [{ parent: -1, name: 0, self: 0 }];
  const known = new Map<string, number>([['', 0]]);
  for (const stack of Object.keys(stacks).sort()) {
    let path = '';
    for (const step of stack.split(';')) {
      const parent = known.get(path)!;
      path = path ? `${path};${step}` : step;
      if (!known.has(path)) {
        known.set(path, nodes.length);
        nodes.push({ parent, name: names.indexOf(step), self: 0 });
      }
    }
    nodes[known.get(path)!].self += stacks[stack];
  }
  return treeOf(
    decodeColumns(
      encodeColumns(
        {},
        names.map((name) => ({ name })),
        nodes,
      ),
    ),
  );
}

function stacksOf(tree: Tree): Record<string, number> {
  const labels = new Labels(tree);
  const out: Record<string, number> = {};
  for (let i = 0; i < tree.count; i++) {
    if (tree.after.self[i] === 0) continue;
    const path = pathOf(tree, i).map((node) => labels.step(tree.name[node]));
    out[path.join(';')] = tree.after.self[i];
  }
  return out;
}

const stacks = { 'a;b': 1, 'a;b;b;c': 2, 'a;b;c': 4, 'a;d;b;b': 8, e: 16 };

describe('transforms', () => {
  it('make recursion one frame, merging what it calls', () => {
    expect(stacksOf(collapseRecursion(treeFrom(stacks)))).toEqual({ 'a;b': 1, 'a;b;c': 6, 'a;d;b': 8, e: 16 });
  });

  it('invert stacks', () => {
    expect(stacksOf(invert(treeFrom({ 'a;b': 1, 'c;b': 2, a: 4 })))).toEqual({ 'b;a': 1, 'b;c': 2, a: 4 });
  });

  it('invert every stack of a large tree, with children in the order of their names', () => {
    const tree = treeOf(decodeColumns(syntheticColumns({ nodes: 1000 })));
    const sums = (of: Tree, turned: boolean) => {
      const out = new Map<string, number>();
      for (let i = 1; i < of.count; i++) {
        const path = pathOf(of, i).map((node) => of.name[node]);
        const key = (turned ? path.reverse() : path).join();
        if (of.after.self[i] !== 0) out.set(key, (out.get(key) ?? 0) + of.after.self[i]);
      }
      return out;
    };
    const inverted = invert(tree);
    expect(sums(inverted, false)).toEqual(sums(tree, true));
    const labels = new Labels(inverted);
    for (let node = 0; node < inverted.count; node++) {
      const steps = Array.from(childrenOf(inverted, node), (child) => labels.step(inverted.name[child]));
      expect(steps).toEqual([...new Set(steps)].sort());
    }
  });

  it('show callers and callees, each stack once', () => {
    const sides = sandwich(treeFrom(stacks), 'b')!;
    expect(sides.callers.after.total[0]).toBe(15);
    expect(sides.callees.after.total[0]).toBe(15);
    expect(stacksOf(sides.callers)).toEqual({ a: 7, 'd;a': 8 });
    expect(stacksOf(sides.callees)).toEqual({ '': 1, 'b;c': 2, c: 4, b: 8 });
    expect(sandwich(treeFrom(stacks), 'nobody')).toBeNull();
  });

  it('keep only stacks that a search finds', () => {
    expect(stacksOf(onlyMatching(treeFrom(stacks), (step) => step === 'c'))).toEqual({ 'a;b;b;c': 2, 'a;b;c': 4 });
  });

  it('order children by weight and lose none', () => {
    const tree = orderByWeight(treeFrom(stacks));
    expect(stacksOf(tree)).toEqual(stacks);
    for (let i = 0; i < tree.count; i++) {
      for (let child = i + 1; child < tree.end[i]; child = tree.end[child]) {
        const next = tree.end[child];
        if (next < tree.end[i]) expect(tree.after.total[child]).toBeGreaterThanOrEqual(tree.after.total[next]);
      }
    }
  });

  it.each(['recursion', 'byWeight', 'inverted'] as const)('%s keeps all weights of both sides', (which) => {
    const options = { nodes: 1500, seed: 21, cut: true, baseline: true };
    const plain = graphOf(options).tree;
    const changed = graphOf(options, { [which]: true }).tree;
    expect(changed.after.total[0]).toBe(plain.after.total[0]);
    expect(changed.before!.total[0]).toBe(plain.before!.total[0]);
    const cuts = (tree: Tree) => tree.cutNodes.reduce((sum, count) => sum + count, 0);
    expect(cuts(changed)).toBe(cuts(plain));
  });
});

describe('a part that was asked for again', () => {
  const cutTree = encodeColumns(
    {},
    [{ name: '' }, { name: 'main' }, { name: 'z' }],
    [
      { parent: -1, name: 0, self: 0 },
      { parent: 0, name: 1, self: 2, cutNodes: 2, cut: 5 },
      { parent: 0, name: 2, self: 3 },
    ],
  );
  const part = encodeColumns(
    { path: ['main'], root: 'main' },
    [{ name: 'main' }, { name: 'x', binary: '/bin/x' }, { name: 'z' }],
    [
      { parent: -1, name: 0, self: 2 },
      { parent: 0, name: 1, self: 1 },
      { parent: 1, name: 2, self: 4 },
    ],
  );

  it('takes the place of what was cut and changes no weight', () => {
    const { tree } = build(cutTree, [{ path: ['main'], bytes: part }], plainJob).main;
    expect(stacksOf(tree)).toEqual({ main: 2, 'main;x': 1, 'main;x;z': 4, z: 3 });
    expect(tree.after.total[0]).toBe(10);
    expect([...tree.cutNodes]).toEqual([0, 0, 0, 0, 0]);
    // The same function has one name, whichever answer it came with.
    expect(tree.name[3]).toBe(tree.name[4]);
  });

  it('is left out when its place is not there any more', () => {
    const { tree } = build(cutTree, [{ path: ['other'], bytes: part }], plainJob).main;
    expect(tree.count).toBe(3);
  });
});

describe('the callers that the server answers', () => {
  it('become two trees with what is known of their names', () => {
    const bytes = encodeColumns(
      {},
      [{ name: '' }, { name: 'f', binary: '/bin/f' }],
      [
        { parent: -1, name: 0, self: 0 },
        { parent: 0, name: 1, self: 7 },
      ],
    );
    const node = (parent: number, name: string, self: number, cut?: object) => ({ parent, name, self, cut });
    const callers = JSON.stringify({
      caller_tree: { nodes: [node(-1, 'f', 0), node(0, 'main', 5, { nodes: 3, self: 2 })] },
      callee_tree: { nodes: [node(-1, 'f', 7)] },
    });
    const built = build(bytes, [], { ...plainJob, callers });
    const { tree } = built.callers!;
    expect(stacksOf(tree)).toEqual({ main: 5 });
    expect(tree.after.total[0]).toBe(7);
    expect(new Labels(tree).binary(tree.name[0])).toBe('/bin/f');
    expect(built.callees!.tree.after.total[0]).toBe(7);
    expect(() => build(bytes, [], { ...plainJob, callers: '{"caller_tree":{}}' })).toThrow(/not what was expected/);
  });
});

describe('a search', () => {
  it('counts a stack once, however many of its frames match', () => {
    const tree = treeFrom(stacks);
    const graph = { tree, layout: build(syntheticColumns({ nodes: 2 }), [], plainJob).main.layout };
    expect(search(graph, new Labels(tree), (step) => step === 'b').weight).toBe(15);
    expect(search(graph, new Labels(tree), (step) => step === 'a' || step === 'b').weight).toBe(15);
    expect(search(graph, new Labels(tree), () => true).weight).toBe(31);
  });
});

describe('a search that goes on', () => {
  it('looks among what it had found, where it can find no more', () => {
    expect(narrows('par', 'pars')).toBe(true);
    for (const [before, after] of [
      ['', 'a'],
      ['pars', 'par'],
      ['/a/', 'a'],
      ['a', '/a/i'],
      [' ', ' a'],
    ]) {
      expect(narrows(before, after)).toBe(false);
    }
  });
});

describe('a path of names', () => {
  it('leads as far as it goes', () => {
    const tree = treeFrom(stacks);
    const labels = new Labels(tree);
    expect(resolvePath(tree, labels, ['a', 'b', 'b', 'c']).found).toBe(4);
    expect(resolvePath(tree, labels, ['a', 'x', 'b']).found).toBe(1);
    expect(resolvePath(tree, labels, [])).toEqual({ node: 0, found: 0 });
  });
});

describe('what is too light to be followed', () => {
  const whole = treeOf(decodeColumns(syntheticColumns({ nodes: 3000, seed: 5 })));
  const labels = new Labels(whole);

  it('is cut when stacks are turned around, and stays in the sum', () => {
    const all = invert(whole);
    const part = invert(whole, { least: 1 / 50, opened: [] });
    expect(part.count).toBeLessThan(all.count);
    expect(part.after.total[0]).toBeCloseTo(all.after.total[0], 3);
    expect(cutBelow(part, 0).nodes).toBeGreaterThan(0);
    expect(cutBelow(all, 0).nodes).toBe(0);
  });

  it('comes back along a path that was opened', () => {
    const part = invert(whole, { least: 1 / 50, opened: [] });
    let node = 1;
    while (part.cutNodes[node] === 0) node++;
    const path = pathOf(part, node).map((id) => labels.step(part.name[id]));
    const opened = invert(whole, { least: 1 / 50, opened: [path] });
    const found = resolvePath(opened, new Labels(opened), path);
    expect(found.found).toBe(path.length);
    expect(opened.cutNodes[found.node]).toBe(0);
    expect(opened.after.total[found.node]).toBeCloseTo(part.after.total[node], 3);
    expect(opened.after.total[0]).toBeCloseTo(part.after.total[0], 3);
  });
});

describe('inlined frames', () => {
  it('stay so through transforms, unless one of those that became one was not', () => {
    const columns = decodeColumns(
      encodeColumns(
        {},
        [{ name: '' }, { name: 'main' }, { name: 'f' }],
        [
          { parent: -1, name: 0, self: 0 },
          { parent: 0, name: 1, self: 1 },
          { parent: 1, name: 2, self: 2 },
          { parent: 0, name: 2, self: 3 },
        ],
      ),
    );
    const inlinedNodes = (tree: Tree) =>
      [...tree.inlined!].map((flag, i) => flag && new Labels(tree).step(tree.name[i]));
    const some = treeOf({ ...columns, inlined: Uint8Array.of(0, 0, 1, 0) });
    expect(inlinedNodes(orderByWeight(some)).filter(Boolean)).toEqual(['f']);
    expect(inlinedNodes(invert(some)).filter(Boolean)).toEqual([]);
    const both = treeOf({ ...columns, inlined: Uint8Array.of(0, 0, 1, 1) });
    expect(inlinedNodes(invert(both)).filter(Boolean)).toEqual(['f']);
  });
});
