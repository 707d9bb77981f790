// A call tree as the server sends it (parents before children), which nodes are open, and the rows that result. What the
// answer left out stands as a row of its own, and is asked for when somebody opens it.
import type { AnswerHeader, Scaled } from '../../api/types';

export interface AnswerNode {
  id: number;
  parent: number;
  name: string;
  total: number;
  self: number;
  total_before?: number;
  self_before?: number;
  cut?: { nodes: number; self: number; self_before?: number };
}
export interface TreeAnswer extends AnswerHeader, Scaled {
  nodes: AnswerNode[];
  cut: { nodes: number; self: number };
  total_before?: number;
  total_after?: number;
}

export interface TreeNode {
  name: string;
  total: number;
  self: number;
  totalBefore: number;
  selfBefore: number;
  children: TreeNode[]; // heaviest first
  cutNodes: number; // below this node, not in the answer
  cutSelf: number;
}

function weightOf(node: TreeNode): number {
  return Math.max(Math.abs(node.total), Math.abs(node.totalBefore));
}

// The root; undefined when the answer has none.
export function buildTree(nodes: readonly AnswerNode[]): TreeNode | undefined {
  const made: TreeNode[] = [];
  for (const node of nodes) {
    const next: TreeNode = {
      name: node.name,
      total: node.total,
      self: node.self,
      totalBefore: node.total_before ?? 0,
      selfBefore: node.self_before ?? 0,
      children: [],
      cutNodes: node.cut?.nodes ?? 0,
      cutSelf: node.cut?.self ?? 0,
    };
    made.push(next);
    if (node.parent >= 0) made[node.parent]?.children.push(next);
  }
  for (const node of made) node.children.sort((a, b) => weightOf(b) - weightOf(a));
  return made[0];
}

// Which nodes are open: those that are in the map of their parent. Names rather than nodes, so that a refresh keeps it.
export type Open = Map<string, Open>;

export interface TreeRow {
  node: TreeNode;
  path: string[]; // names from the root, which itself has none
  level: number; // from 1
  position: number; // among its siblings, from 1
  siblings: number;
  isOpen: boolean;
  isCut: boolean; // stands for what the node did not send; opening it asks
}

export function canOpen(node: TreeNode): boolean {
  return node.children.length > 0 || node.cutNodes > 0;
}

export function visibleRows(root: TreeNode, open: Open): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (parent: TreeNode, below: Open, path: string[]) => {
    const siblings = parent.children.length + (parent.cutNodes > 0 ? 1 : 0);
    const level = path.length + 1;
    parent.children.forEach((node, i) => {
      const opened = below.get(node.name);
      const own = [...path, node.name];
      const isOpen = opened !== undefined && canOpen(node);
      rows.push({ node, path: own, level, position: i + 1, siblings, isOpen, isCut: false });
      if (isOpen) visit(node, opened, own);
    });
    if (parent.cutNodes > 0) {
      rows.push({ node: parent, path, level, position: siblings, siblings, isOpen: false, isCut: true });
    }
  };
  visit(root, open, []);
  return rows;
}

function copyOpen(open: Open): Open {
  return new Map([...open].map(([name, below]) => [name, copyOpen(below)]));
}

// With the node at the path open, and all above it.
export function withOpen(open: Open, path: readonly string[]): Open {
  const next = copyOpen(open);
  let at = next;
  for (const name of path) {
    const below: Open = at.get(name) ?? new Map();
    at.set(name, below);
    at = below;
  }
  return next;
}

export function withClosed(open: Open, path: readonly string[]): Open {
  const next = copyOpen(open);
  let at: Open | undefined = next;
  for (const name of path.slice(0, -1)) at = at?.get(name);
  at?.delete(path[path.length - 1]);
  return next;
}

export function nodeAt(root: TreeNode, path: readonly string[]): TreeNode | undefined {
  let node: TreeNode | undefined = root;
  for (const name of path) node = node?.children.find((child) => child.name === name);
  return node;
}

// Down from the node by the heaviest child, as long as one child has most of its parent's weight.
export function heavyPath(root: TreeNode, from: readonly string[], share = 0.5): string[] {
  const path = [...from];
  let node = nodeAt(root, from);
  while (node && node.children.length > 0) {
    const heaviest: TreeNode = node.children[0];
    if (path.length > from.length && weightOf(heaviest) < share * weightOf(node)) break;
    path.push(heaviest.name);
    node = heaviest;
  }
  return path;
}

function knownNodes(node: TreeNode): number {
  return node.children.reduce((sum, child) => sum + knownNodes(child), 1);
}

// How many nodes to ask for below a node, to see more than is known: the same budget would cut the same again.
export function budgetBelow(node: TreeNode, usual: number, most: number): number {
  return Math.min(most, Math.max(usual, 4 * knownNodes(node)));
}

// What was asked for takes the place of what was cut.
export function graft(root: TreeNode, path: readonly string[], part: TreeNode): TreeNode {
  if (path.length === 0) return { ...root, children: part.children, cutNodes: part.cutNodes, cutSelf: part.cutSelf };
  const children = root.children.map((child) => (child.name === path[0] ? graft(child, path.slice(1), part) : child));
  return { ...root, children };
}

// A row by what it shows: opening another moves it, a refresh makes it anew.
export function findRow(rows: readonly TreeRow[], wanted: TreeRow | null): number {
  if (!wanted) return -1;
  const { path, isCut } = wanted;
  return rows.findIndex(
    (row) =>
      row.isCut === isCut &&
      row.path.length === path.length &&
      // From the end: paths differ there first.
      row.path.every((_, i) => row.path[path.length - 1 - i] === path[path.length - 1 - i]),
  );
}

// The row that the left arrow goes to.
export function parentRow(rows: readonly TreeRow[], at: number): number {
  for (let i = at - 1; i >= 0; --i) if (rows[i].level < rows[at].level) return i;
  return -1;
}
