// One listener for all keys. What a widget has dealt with itself (preventDefault) stays its own; while a dialog or a menu
// is open, only keys with Ctrl do anything.
import { openMenu } from '../menu';
import { commands } from './commands';
import { commandFor, takesText } from './keys';

export function startKeys() {
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const modal = openMenu.value !== null || document.querySelector('dialog[open]') !== null;
    const command = commandFor(event, commands.value, modal || takesText(event.target as HTMLElement | null));
    if (!command) return;
    event.preventDefault();
    command.run();
  });
}
