// All commands with their keys, by group; those without a key are in the palette too.
import { Dialog } from '../dialog';
import { groupCommands } from './command_groups';
import { commands } from './commands';
import { keyLabel } from './keys';
import './palette.css';

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
                      <kbd key={key}>{keyLabel(key)}</kbd>
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
