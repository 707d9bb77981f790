// What a bar says, and what names are called in paths, steps and the other views.

import { baseName, shortName } from '../text/names';
import { visibleText } from '../text/safe';
import { type NameTable, Strings } from './columns';
import type { Tree } from './tree';

export class Labels {
  readonly strings: Strings;
  readonly names: NameTable;
  private readonly whole: (string | undefined)[];
  private readonly short: (string | undefined)[];
  private byText: Map<string, number[]> | undefined;

  constructor(
    tree: Pick<Tree, 'strings' | 'names' | 'header'>,
    readonly group = tree.header.group,
    readonly root = tree.header.root,
  ) {
    this.strings = new Strings(tree.strings);
    this.names = tree.names;
    this.whole = new Array(tree.names.text.length);
    this.short = new Array(tree.names.text.length);
  }

  get count(): number {
    return this.names.text.length;
  }
  text(name: number): string {
    return this.strings.get(this.names.text[name]);
  }
  file(name: number): string {
    return this.strings.get(this.names.file[name]);
  }
  binary(name: number): string {
    return this.strings.get(this.names.binary[name]);
  }

  // The step of a path, as the server has it. The root of a whole tree has no name of its own.
  step(name: number): string {
    let text = this.whole[name];
    if (text === undefined) {
      text = this.makeStep(name);
      this.whole[name] = text;
    }
    return text;
  }

  // What a bar shows.
  shown(name: number, shorten: boolean): string {
    if (!shorten) return visibleText(this.step(name));
    let text = this.short[name];
    if (text === undefined) {
      text = visibleText(this.makeShort(name));
      this.short[name] = text;
    }
    return text;
  }

  // Names with that step: several where bars of one function differ in their binary.
  find(step: string): readonly number[] {
    if (!this.byText) {
      this.byText = new Map();
      for (let name = 0; name < this.count; name++) {
        const text = this.step(name);
        const known = this.byText.get(text);
        if (known) known.push(name);
        else this.byText.set(text, [name]);
      }
    }
    return this.byText.get(step) ?? [];
  }

  private makeStep(name: number): string {
    const text = this.text(name);
    const file = this.file(name);
    switch (this.group) {
      case 'line': {
        const line = this.names.line[name];
        return line ? `${text} ${file}:${line}` : file ? `${text} ${file}` : text;
      }
      case 'file':
        return file || text;
      case 'binary': {
        const binary = this.binary(name);
        return binary ? baseName(binary) : text.includes('=') ? text : '<unknown>';
      }
      default:
        return text;
    }
  }

  private makeShort(name: number): string {
    const kind = this.names.kind[name];
    const text = this.text(name);
    switch (this.group) {
      case 'line': {
        const line = this.names.line[name];
        const file = baseName(this.file(name));
        return file ? `${shortName(text, kind)} ${file}${line ? `:${line}` : ''}` : shortName(text, kind);
      }
      case 'file':
        return this.file(name) ? baseName(this.file(name)) : shortName(text, kind);
      case 'binary':
        return this.step(name);
      default:
        return shortName(text, kind);
    }
  }
}

function isNameless(tree: Tree, labels: Labels, node: number): boolean {
  const name = tree.name[node];
  return node === 0 && labels.text(name) === '' && labels.file(name) === '';
}

// Name of a node; the root of everything is called by what it holds.
export function nodeStep(tree: Tree, labels: Labels, node: number): string {
  return isNameless(tree, labels, node) ? tree.header.root || 'total' : labels.step(tree.name[node]);
}

export function nodeLabel(tree: Tree, labels: Labels, node: number, shorten: boolean): string {
  if (isNameless(tree, labels, node)) return visibleText(nodeStep(tree, labels, node));
  return labels.shown(tree.name[node], shorten);
}

// The deepest node that the names lead to, and how many of them led there.
export function resolvePath(tree: Tree, labels: Labels, steps: readonly string[]): { node: number; found: number } {
  let node = 0;
  let found = 0;
  for (const step of steps) {
    let next = -1;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
      if (labels.step(tree.name[child]) === step) {
        next = child;
        break;
      }
    }
    if (next < 0) break;
    node = next;
    found++;
  }
  return { node, found };
}
