// What the flame graph does by key. Letters are those of the Firefox Profiler where it has the same step.
import type { RefObject } from 'preact';
import type { Way } from '../engine/walk';
import { type Command, useCommands } from '../parts/commands/commands';
import { frameStep, hideBinary } from '../parts/frame_menu';
import type { StepKind } from '../state/state';
import { addStep, go, state } from '../state/store';
import type { GraphHandle } from './graph_view';
import { colors, type SearchHandle } from './toolbar';

export interface Controls {
  box: RefObject<HTMLInputElement | null>;
  search: SearchHandle;
  active(): GraphHandle | null;
  compare: boolean;
  zoomIn(handle: GraphHandle, node: number): void;
  zoomOut(): boolean; // whether there was anything to leave
  canZoomOut(): boolean;
  reset(): void;
}

const group = 'Flame graph';
const opposite: Partial<Record<Way, Way>> = { parent: 'child', child: 'parent' };

export function useFlameCommands(controls: Controls) {
  const { active } = controls;
  // The function that is pointed at, or that has the focus.
  const target = () => {
    const handle = active();
    const node = handle?.target() ?? -1;
    return handle && node > 0 ? { handle, node, name: handle.seen.graph.tree.name[node] } : null;
  };
  const focused = () => {
    const handle = active();
    return handle !== null && handle.element === document.activeElement;
  };
  const onTarget = (
    id: string,
    title: string,
    key: string,
    run: (found: NonNullable<ReturnType<typeof target>>) => void,
  ): Command => ({
    id: `flame.${id}`,
    title,
    group,
    keys: [key],
    enabled: () => target() !== null,
    run: () => {
      const found = target();
      if (found) run(found);
    },
  });
  const step = (id: string, kind: StepKind, title: string, key: string) =>
    onTarget(id, title, key, ({ handle, name }) => addStep(frameStep(kind, { name: handle.seen.labels.step(name) })));
  const arrow = (way: Way, title: string, key: () => string): Command => ({
    id: `flame.${way}.${key()}`, // another key is another command
    title,
    group,
    keys: [key()],
    enabled: focused,
    run: () => {
      const handle = active();
      // The callers of a sandwich grow the other way: up is up on the screen, wherever the root is.
      const turned = handle !== null && handle.canvas.screen.flip !== flip;
      handle?.move(turned ? (opposite[way] ?? way) : way);
    },
  });
  const { flip } = state.value;
  useCommands([
    {
      id: 'flame.search',
      title: 'Search frames',
      group,
      keys: ['/'],
      run: () => {
        controls.box.current?.focus();
        controls.box.current?.select();
      },
    },
    {
      id: 'flame.next',
      title: 'Next match',
      group,
      keys: ['n'],
      enabled: () => state.value.search !== '',
      run: () => controls.search.next(1),
    },
    {
      id: 'flame.previous',
      title: 'Previous match',
      group,
      keys: ['Shift+N'],
      enabled: () => state.value.search !== '',
      run: () => controls.search.next(-1),
    },
    {
      id: 'flame.out',
      title: 'Up one level',
      group,
      keys: ['Escape'],
      enabled: controls.canZoomOut,
      run: () => controls.zoomOut(),
    },
    { id: 'flame.reset', title: 'Show everything', group, keys: ['0'], run: controls.reset },
    {
      id: 'flame.in',
      title: 'Zoom to the frame',
      group,
      keys: ['Enter'],
      enabled: focused,
      run: () => {
        const handle = active();
        const node = handle?.target() ?? -1;
        if (handle && node >= 0) controls.zoomIn(handle, node);
      },
    },
    arrow('parent', 'To the caller', () => (flip ? 'ArrowDown' : 'ArrowUp')),
    arrow('child', 'To the largest callee', () => (flip ? 'ArrowUp' : 'ArrowDown')),
    arrow('previous', 'To the left', () => 'ArrowLeft'),
    arrow('next', 'To the right', () => 'ArrowRight'),
    {
      id: 'flame.sandwich',
      title: 'Callers and callees of the frame (sandwich)',
      group,
      keys: ['s'],
      enabled: () => state.value.sandwich !== '' || target() !== null,
      run: () => {
        const found = target();
        const name = found ? found.handle.seen.labels.step(found.name) : '';
        go({ sandwich: name === state.value.sandwich ? '' : name });
      },
    },
    {
      id: 'flame.invert',
      title: 'Invert: callees first',
      group,
      keys: ['i'],
      run: () => go({ inverted: !state.value.inverted, zoom: [] }),
    },
    {
      id: 'flame.recursion',
      title: 'Direct recursion as one frame',
      group,
      keys: ['r'],
      run: () => go({ recursion: !state.value.recursion, zoom: [] }),
    },
    step('focus', 'focus', 'Only stacks through the frame (focus)', 'f'),
    step('merge', 'hide', 'Hide the frame, its caller takes over (merge)', 'm'),
    step('drop', 'ignore', 'Drop stacks through the frame', 'd'),
    onTarget('binary', 'Hide the binary of the frame', 'x', ({ handle, name }) => {
      const binary = handle.seen.labels.binary(name);
      if (binary) hideBinary(binary);
    }),
    {
      id: 'flame.color',
      title: 'Next colouring',
      group,
      keys: ['c'],
      enabled: () => !controls.compare,
      run: () => {
        const at = colors.findIndex(([color]) => color === state.value.color);
        go({ color: colors[(at + 1) % colors.length][0], isolate: '' });
      },
    },
    { id: 'flame.flip', title: 'Root at the bottom', group, run: () => go({ flip: !state.value.flip }) },
    {
      id: 'flame.order',
      title: 'Children by weight',
      group,
      run: () => go({ order: state.value.order === 'name' ? 'weight' : 'name' }),
    },
  ]);
}
