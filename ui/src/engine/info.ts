// What the details line says about a bar. Text only; every name is made visible first.
import { formatCount, formatRelative, formatShare } from '../text/format';
import { measureOf } from '../text/measure';
import { kindNames } from '../text/names';
import { visibleText } from '../text/safe';
import type { Hit } from './hit';
import type { Graph } from './job';
import { type Labels, nodeLabel, nodeStep } from './labels';

export interface Info {
  title: string; // the whole name, or what the bar stands for
  place: string; // file:line
  binary: string;
  numbers: [name: string, value: string][];
}

export function wholeOf(graph: Graph): number {
  const { header, after } = graph.tree;
  return header.total_after ?? (header.total || after.total[0]);
}

export function infoOfNode(graph: Graph, labels: Labels, node: number): Info {
  const { tree } = graph;
  const measure = measureOf(tree.header);
  const name = tree.name[node];
  const self = tree.after.self[node];
  const total = tree.after.total[node];
  const parent = tree.parent[node];
  const line = tree.names.line[name];
  const file = labels.file(name);
  const kind = kindNames[tree.names.kind[name]] ?? '';
  const numbers: Info['numbers'] = [
    ['total', measure.value(total)],
    ['of all', formatShare(total, wholeOf(graph))],
  ];
  if (parent >= 0) numbers.push(['of parent', formatShare(total, tree.after.total[parent])]);
  numbers.push(['self', measure.value(self)]);
  if (tree.after.cut[node] > 0) numbers.push(['cut below', measure.value(tree.after.cut[node])]);
  if (tree.before) {
    const before = tree.before.total[node];
    numbers.push(
      ['before', measure.value(before)],
      ['change', `${measure.change(total - before)} (${formatRelative(before, total)})`],
    );
    const lost = lostBelow(graph, node);
    if (lost > 0) numbers.push(['only in baseline below', measure.value(lost)]);
  }
  return {
    title: visibleText(labels.text(name) || nodeStep(tree, labels, node)),
    place: visibleText(file ? (line ? `${file}:${line}` : file) : ''),
    binary: visibleText(
      [labels.binary(name), kind !== 'unknown' && kind !== 'native' ? kind : '', tree.inlined?.[node] ? 'inlined' : '']
        .filter(Boolean)
        .join(' · '),
    ),
    numbers,
  };
}

// Weight in the baseline of children that are not there any more.
export function lostBelow(graph: Graph, node: number): number {
  const { tree } = graph;
  if (!tree.before) return 0;
  let lost = 0;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.after.total[child] <= 0) lost += tree.before.total[child];
  }
  return lost;
}

export function runText(graph: Graph, hit: Hit, canLoad: boolean): string {
  const share = formatShare(hit.weight, wholeOf(graph));
  if (hit.kind === 'cut') {
    return `${formatCount(hit.count)} ${hit.count === 1 ? 'node' : 'nodes'} below the budget, ${share}${canLoad ? '; click to load' : ''}`;
  }
  return `${formatCount(hit.count)} frames, ${share}; click to see them`;
}

export function infoOfHit(graph: Graph, labels: Labels, hit: Hit): Info {
  if (hit.kind === 'bar') return infoOfNode(graph, labels, hit.node);
  const measure = measureOf(graph.tree.header);
  const numbers: Info['numbers'] = [
    ['total', measure.value(hit.weight)],
    ['of all', formatShare(hit.weight, wholeOf(graph))],
  ];
  const name = visibleText(nodeStep(graph.tree, labels, hit.node));
  const title =
    hit.kind === 'cut'
      ? `${formatCount(hit.count)} ${hit.count === 1 ? 'node' : 'nodes'} below the budget, in ${name}`
      : `${formatCount(hit.count)} frames narrower than a pixel, the largest ${name}`;
  return { title, place: '', binary: '', numbers };
}

// What a screen reader says.
export function spoken(graph: Graph, labels: Labels, node: number, shorten: boolean): string {
  const { tree } = graph;
  const total = tree.after.total[node];
  const name = nodeLabel(tree, labels, node, shorten);
  const change = tree.before ? `, ${formatRelative(tree.before.total[node], total)} against the baseline` : '';
  return `${name}, ${measureOf(tree.header).value(total)}, ${formatShare(total, wholeOf(graph))}${change}`;
}

// Roots of subtrees that only the baseline has, the heaviest first.
export function goneNodes(graph: Graph): number[] {
  const { tree } = graph;
  if (!tree.before) return [];
  const { total } = tree.after;
  const before = tree.before.total;
  const nodes: number[] = [];
  for (let i = 1; i < tree.count; i++) {
    if (total[i] <= 0 && before[i] > 0 && (total[tree.parent[i]] > 0 || tree.parent[i] === 0)) nodes.push(i);
  }
  return nodes.sort((a, b) => before[b] - before[a] || a - b);
}
