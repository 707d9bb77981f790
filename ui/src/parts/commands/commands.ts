// All that can be done by key, in one list: the key handler runs it, the palette searches it, the help shows it. A
// component brings its commands with it while it is on screen.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface Command {
  id: string;
  title: string; // "Invert the flame graph"
  group: string; // heading in help and palette: "Flame graph"
  keys?: string[]; // "i", "Shift+N", "Ctrl+K"; letters work only outside of text fields
  run(): void;
  enabled?(): boolean;
}

export const commands = signal<readonly Command[]>([]);

export function addCommands(list: readonly Command[]): () => void {
  commands.value = [...commands.value, ...list];
  return () => {
    commands.value = commands.value.filter((command) => !list.includes(command));
  };
}

// `list` may be new at each rendering: what a command does is looked up when it runs.
export function useCommands(list: readonly Command[]) {
  const key = list.map((command) => command.id).join(' ');
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => {
    const find = (id: string) => latest.current.find((command) => command.id === id);
    return addCommands(
      list.map((command) => ({
        ...command,
        run: () => find(command.id)?.run(),
        enabled: () => find(command.id)?.enabled?.() ?? true,
      })),
    );
  }, [key]);
}
