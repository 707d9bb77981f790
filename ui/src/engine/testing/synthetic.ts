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
  const nodes: NodeRow[] = [];
  const add = (parent: number, name: number, self: number): number => {
    const node: NodeRow = { parent, name, self };
    if (parent >= 0 && options.cut && next() < 0.03) {
      node.cutNodes = 1 + pick(40);
      node.cut = Math.ceil(self * 0.02) + 1 + pick(1000);
    }
    if (options.baseline) {
      const change = next();
      node.selfBefore = change < 0.05 ? 0 : Math.floor(self * (0.6 + change * 0.7));
      node.cutBefore = node.cut ?? 0;
      if (change > 0.97) {
        node.selfBefore = self;
        node.self = 0;
        node.cut = 0;
        node.cutNodes = 0;
      }
    }
    return nodes.push(node) - 1;
  };
  // Both nodes and weight are split among the children, most of them going to few: long towers, and crowds of thin ones.
  const grow = (parent: number, name: number, budget: number, weight: number, depth: number) => {
    const rest = budget - 1;
    if (rest <= 0) {
      add(parent, name, weight);
      return;
    }
    const self = Math.floor(weight * next() ** 4 * 0.5);
    const node = add(parent, name, self);
    const mostChildren = depth >= most - 1 ? rest : depth < 4 ? 3 : 7;
    const count = Math.min(rest, depth >= most - 1 ? rest : 1 + pick(mostChildren));
    const shares = Array.from({ length: count }, () => next() ** 4 + 1e-4);
    const sum = shares.reduce((a, b) => a + b, 0);
    let spare = rest - count;
    let left = weight - self;
    shares.forEach((share, i) => {
      const part = i === count - 1 ? left : Math.floor(((weight - self) * share) / sum);
      const more = i === count - 1 ? spare : Math.min(spare, Math.floor(((rest - count) * share) / sum));
      spare -= more;
      left -= part;
      const own = next() < 0.03 && name > 0 ? name : 1 + pick(names.length - 1);
      grow(node, own, 1 + more, Math.max(1, part), depth + 1);
    });
  };
  grow(-1, 0, options.nodes, 1e12, 0);
  return { names, nodes };
}

export function syntheticColumns(options: Synthetic): Uint8Array {
  const { names, nodes } = syntheticRows(options);
  return encodeColumns({ baseline: options.baseline ?? false }, names, nodes);
}
