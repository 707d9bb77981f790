// What can be done with a frame, the same in the flame graph, the table and the tree: look at it alone, filter by it,
// open it elsewhere, copy it. Patterns are RE2 expressions that match the whole name and nothing else.
import type { Step, StepKind } from '../state/state';
import { addStep, go, state } from '../state/store';
import { escapeExpression } from '../text/match';
import { baseName } from '../text/names';
import { clippedText } from '../text/safe';
import { copyText } from './clipboard';
import { type MenuGroup, type MenuItem, showMenu } from './menu';

export interface Frame {
  name: string; // whole
  file?: string;
  line?: number;
  binary?: string;
}

// ^name$ with all signs of expressions taken as they are. A step looks at function, file and binary; a whole name is
// hardly ever that of a file.
export function exactPattern(text: string): string {
  // Steps are text of an address: what it cannot carry is written as RE2 reads it.
  const plain = escapeExpression(text).replaceAll('\u0000', '\\x00').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return `^${plain}$`;
}

// The text that a pattern stands for, when it stands for one only: "^a\.b$" → "a.b". For chips that people can read.
export function exactText(pattern: string): string | undefined {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return undefined;
  const inner = pattern.slice(1, -1);
  if (!/^(?:[^\\^$.*+?()[\]{}|]|\\[^a-zA-Z0-9])*$/.test(inner)) return undefined;
  return inner.replace(/\\(.)/gs, '$1');
}

// Files and binaries are matched by their end: a path may be cleaned of what stands before it.
export function binaryPattern(path: string): string {
  return `(^|/)${escapeExpression(baseName(path))}$`;
}

export function frameStep(kind: StepKind, frame: Frame): Step {
  return { kind, pattern: exactPattern(frame.name) };
}

export function hideBinary(binary: string) {
  addStep({ kind: 'hide', pattern: binaryPattern(binary) });
}

// The innermost level of the location, as "file:line".
export function place(frame: Frame): string {
  return frame.file ? (frame.line ? `${frame.file}:${frame.line}` : frame.file) : '';
}

export interface FrameMenuOptions {
  source?: boolean; // whether there is a view of source files; true where nothing is said
  // More items of the view, at the start of the group Focus.
  focus?: MenuItem[];
  copy?: MenuItem[];
}

export function frameMenu(frame: Frame, options: FrameMenuOptions = {}): MenuGroup[] {
  const step = (kind: StepKind, title: string, key?: string): MenuItem => ({
    title,
    key,
    run: () => addStep(frameStep(kind, frame)),
  });
  const binary = frame.binary ?? '';
  const where = place(frame);
  const groups: MenuGroup[] = [
    {
      title: 'Focus',
      items: [
        ...(options.focus ?? []),
        step('focus', 'Only stacks through this function', 'f'),
        step('show_from', 'Start stacks at this function'),
        {
          title: 'Sandwich: callers and callees',
          key: 's',
          checked: state.value.sandwich === frame.name ? true : undefined,
          run: () => go({ sandwich: frame.name, pane: state.value.pane === 'both' ? 'both' : 'flame' }),
        },
      ],
    },
    {
      title: 'Filter',
      items: [
        step('hide', 'Hide this function, its caller takes over', 'm'),
        step('ignore', 'Drop stacks through this function', 'd'),
        ...(binary
          ? [
              {
                title: `Hide ${clippedText(baseName(binary), 40)}`,
                key: 'x',
                run: () => hideBinary(binary),
              },
              {
                title: `Only frames of ${clippedText(baseName(binary), 40)}`,
                run: () => addStep({ kind: 'show', pattern: binaryPattern(binary) }),
              },
            ]
          : []),
      ],
    },
    {
      title: 'Open',
      items: [
        { title: 'Search for this name', run: () => go({ search: frame.name }) },
        { title: 'In the table', run: () => go({ pane: 'table', search: frame.name }) },
        ...(options.source === false
          ? []
          : [
              {
                title: 'Source',
                disabled: !frame.file,
                run: () => go({ view: 'source', sourceFile: frame.file ?? '', sourceLine: frame.line ?? 0 }),
              },
            ]),
      ],
    },
    {
      title: 'Copy',
      items: [
        { title: 'Name', run: () => copyText(frame.name, 'Name copied') },
        ...(where ? [{ title: 'File and line', run: () => copyText(where, 'File and line copied') }] : []),
        ...(options.copy ?? []),
      ],
    },
  ];
  return groups;
}

export function showFrameMenu(at: { x: number; y: number }, frame: Frame, options?: FrameMenuOptions) {
  showMenu({ x: at.x, y: at.y, label: clippedText(frame.name, 60), groups: frameMenu(frame, options) });
}
