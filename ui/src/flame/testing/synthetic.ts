// Synthetic CPU profiles of a given number of nodes: long C++ names, several binaries, a kernel below, recursion, cuts.
// The same seed gives the same bytes, so that figures can be compared.
import { encodeColumns, type NameRow, type NodeRow } from './encode';

export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
}

const words = [
  'order',
  'cart',
  'price',
  'index',
  'cache',
  'query',
  'stream',
  'codec',
  'block',
  'token',
  'route',
  'session',
];
const verbs = [
  'read',
  'write',
  'parse',
  'merge',
  'find',
  'insert',
  'flush',
  'encode',
  'commit',
  'visit',
  'lookup',
  'apply',
];
const binaries = ['/usr/bin/checkout', '/usr/lib/libstdc++.so.6', '/usr/lib/libc.so.6', '/opt/shop/libpricing.so'];

export interface Synthetic {
  nodes: number;
  names?: number;
  depth?: number;
  seed?: number;
  baseline?: boolean;
  cut?: boolean;
}

function makeNames(count: number, pick: (below: number) => number): NameRow[] {
  const names: NameRow[] = [{ name: '' }];
  while (names.length < count) {
    const i = names.length;
    const word = words[pick(words.length)];
    const verb = verbs[pick(verbs.length)];
    const layer = pick(10);
    if (layer < 6) {
      names.push({
        name: `std::unique_ptr<shop::${word}::Result> shop::${word}::${verb}_${i}<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, ${i % 64}ul>(shop::${word}::Context&, std::vector<unsigned long, std::allocator<unsigned long> > const&)`,
        file: `src/shop/${word}/${verb}.cc`,
        binary: binaries[layer % 2 === 0 ? 0 : 3],
        line: 20 + (i % 900),
        kind: 1,
      });
    } else if (layer < 8) {
      names.push({ name: `std::__detail::_Map_base<${word}_${i}>::${verb}(int)`, binary: binaries[1], kind: 1 });
    } else if (layer < 9) {
      names.push({ name: `__libc_${verb}_${i}`, binary: binaries[2], kind: 1 });
    } else {
      names.push({ name: `__x64_sys_${verb}_${i}`, binary: '[kernel]', kind: 2 });
    }
  }
  return names;
}

export function syntheticRows(options: Synthetic): { names: NameRow[]; nodes: NodeRow[] } {
  const next = random(options.seed ?? 7);
  const pick = (below: number) => Math.floor(next() * below);
  const names = makeNames(options.names ?? Math.max(16, Math.min(20_000, Math.floor(options.nodes / 5))), pick);
  const most = options.depth ?? 40;
  const nodes: NodeRow[] = [{ parent: -1, name: 0, self: 0 }];
  const stack = [0];
  while (nodes.length < options.nodes) {
    // Depths wander: up by a few levels, then down again.
    if (stack.length > 1 && (stack.length >= most || next() < 0.48)) {
      for (let up = 1 + pick(Math.min(6, stack.length - 1)); up > 0 && stack.length > 1; up--) stack.pop();
    }
    const parent = stack[stack.length - 1];
    const name = next() < 0.03 && parent > 0 ? nodes[parent].name : 1 + pick(names.length - 1);
    const heavy = next() ** 6;
    const self = next() < 0.6 ? Math.floor(heavy * 4e9) + 1_000_000 : 0;
    const node: NodeRow = { parent, name, self };
    if (options.cut && next() < 0.03) {
      node.cutNodes = 1 + pick(40);
      node.cut = 1_000_000 * (1 + pick(30));
    }
    if (options.baseline) {
      const change = next();
      node.selfBefore = change < 0.05 ? 0 : Math.floor(self * (0.6 + change * 0.7));
      if (change > 0.97) {
        node.selfBefore = self + 5_000_000;
        node.self = 0;
      }
      node.cutBefore = node.cut ?? 0;
    }
    stack.push(nodes.length);
    nodes.push(node);
  }
  return { names, nodes };
}

export function syntheticColumns(options: Synthetic): Uint8Array {
  const { names, nodes } = syntheticRows(options);
  return encodeColumns({ baseline: options.baseline ?? false }, names, nodes);
}
