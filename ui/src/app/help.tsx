// All commands with their keys, by group; those without a key are in the palette too.
import { Dialog } from '../parts/dialog';
import { type Command, commands } from './commands';
import './palette.css';

export function groupCommands(list: readonly Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of list) {
    const group = groups.get(command.group);
    if (group) group.push(command);
    else groups.set(command.group, [command]);
  }
  // What has a key is what people come here for.
  const rank = (command: Command) => (command.keys?.length ? 0 : 1);
  return [...groups].map(([group, members]) => [group, members.toSorted((a, b) => rank(a) - rank(b))]);
}

export default function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys and commands" onClose={onClose} size="large">
      <p class="muted">
        Letters work outside of text fields. <kbd>Ctrl+K</kbd> finds any of these by name.
      </p>
      <div class="help-groups">
        {groupCommands(commands.value).map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {list.map((command) => (
                <div key={command.id} class="help-row">
                  <dt>{command.title}</dt>
                  <dd>
                    {command.keys?.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
