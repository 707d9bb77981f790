// Commands as the help lists them.
import type { Command } from './commands';

// Of the frame: there in every view.
const always = ['Time', 'Compare', 'Share', 'Views', 'General'];

// What is on screen first, and in each group what has a key: that is what people come for.
export function groupCommands(list: readonly Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of list) {
    const group = groups.get(command.group);
    if (group) group.push(command);
    else groups.set(command.group, [command]);
  }
  const rank = (command: Command) => (command.keys?.length ? 0 : 1);
  return [...groups]
    .toSorted(([a], [b]) => always.indexOf(a) - always.indexOf(b))
    .map(([group, members]) => [group, members.toSorted((a, b) => rank(a) - rank(b))]);
}
