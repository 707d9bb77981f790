// The steps and groups that a server applies, for a page that has none: which stacks and frames of a whole tree are seen,
// and what frames are told apart by.
import type { GroupBy, Step, StepKind } from '../state/state';
import { TreeBuilder } from './builder';
import { Labels } from './labels';
import { nameRank } from './transforms';
import type { Tree } from './tree';

// An RE2 expression as the browser has it. One that it does not understand matches nothing.
export function expressionOf(pattern: string): RegExp {
  const [whole, flags = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? [''];
  try {
    return new RegExp(pattern.slice(whole.length), flags);
  } catch {
    return /[^\s\S]/;
  }
}

// By name of the tree: which of the patterns find something in its function, file or binary, a bit each.
function findingOf(labels: Labels, patterns: readonly string[]): Uint32Array {
  const expressions = patterns.map(expressionOf);
  const found = new Uint32Array(labels.count);
  if (expressions.length === 0) return found;
  for (let name = 0; name < labels.count; name++) {
    const texts = [labels.text(name), labels.file(name), labels.binary(name)];
    for (let i = 0; i < expressions.length; i++) {
      if (texts.some((text) => expressions[i].test(text))) found[name] |= 1 << i;
    }
  }
  return found;
}

export function applySteps(tree: Tree, steps: readonly Step[]): Tree {
  if (steps.length === 0) return tree;
  const labels = new Labels(tree);
  const patterns = (kind: StepKind) => steps.filter((step) => step.kind === kind).map(({ pattern }) => pattern);
  const focus = patterns('focus');
  const starts = patterns('show_from');
  const shows = patterns('show');
  const focusFound = findingOf(labels, focus);
  const ignoreFound = findingOf(labels, patterns('ignore'));
  const hideFound = findingOf(labels, patterns('hide'));
  const showFound = findingOf(labels, shows);
  const startFound = findingOf(labels, starts);
  const allFocused = 2 ** focus.length - 1;

  const { count, parent, name, after, before } = tree;
  const focused = new Uint32Array(count);
  const ignored = new Uint8Array(count);
  const started = new Uint8Array(count); // by how many of the starts, which are taken in order
  const shown = new Uint8Array(count); // the frame itself
  const visible = new Uint8Array(count); // it, or one above it
  const passes = new Uint8Array(count); // something of the weight at or below it
  for (let i = 1; i < count; i++) {
    const above = parent[i];
    focused[i] = focused[above] | focusFound[name[i]];
    ignored[i] = ignored[above] | (ignoreFound[name[i]] === 0 ? 0 : 1);
    let start = started[above];
    while (start < starts.length && (startFound[name[i]] >> start) & 1) start++;
    started[i] = start;
    const hidden = hideFound[name[i]] !== 0 || (shows.length > 0 && showFound[name[i]] === 0);
    shown[i] = start === starts.length && !hidden ? 1 : 0;
    visible[i] = visible[above] | shown[i];
  }
  const counts = (i: number) => focused[i] === allFocused && ignored[i] === 0 && visible[i] === 1;
  for (let i = count - 1; i > 0; i--) {
    if (counts(i) && (after.self[i] !== 0 || (before !== null && before.self[i] !== 0))) passes[i] = 1;
    if (passes[i]) passes[parent[i]] = 1;
  }
  const builder = new TreeBuilder(tree);
  const made = new Uint32Array(count);
  for (let i = 1; i < count; i++) {
    if (!passes[i]) continue;
    made[i] = shown[i] ? builder.child(made[parent[i]], name[i], i) : made[parent[i]];
    if (counts(i)) builder.addSelf(made[i], i);
  }
  return builder.finish(nameRank(tree));
}

// Functions of one file or binary as one.
export function regroup(tree: Tree, group: GroupBy): Tree {
  if (group === 'function' || group === 'line') return tree;
  const { names } = tree;
  const nothing = (length: number) => new Uint32Array(length);
  const grouped: Tree = {
    ...tree,
    header: { ...tree.header, group },
    names: {
      ...names,
      text: group === 'binary' ? nothing(names.text.length) : names.text.map((text, i) => (names.file[i] ? 0 : text)),
      file: group === 'file' ? names.file : nothing(names.file.length),
      line: new Int32Array(names.line.length),
    },
  };
  const labels = new Labels(grouped);
  // The root stays apart from what has neither file nor binary.
  const first = new Map<string, number>();
  const numbers = new Uint32Array(labels.count);
  for (let i = 0; i < labels.count; i++) {
    const step = labels.step(i);
    if (i === tree.name[0]) numbers[i] = i;
    else {
      if (!first.has(step)) first.set(step, i);
      numbers[i] = first.get(step)!;
    }
  }
  const builder = new TreeBuilder(grouped);
  const made = new Uint32Array(tree.count);
  builder.addSelf(0, 0);
  for (let i = 1; i < tree.count; i++) {
    made[i] = builder.child(made[tree.parent[i]], numbers[tree.name[i]], i);
    builder.addSelf(made[i], i);
  }
  return builder.finish(nameRank(grouped));
}
