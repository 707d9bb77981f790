// What an exported page does by key, besides the commands of its panes. The letters are those of the web UI; l, Backspace and
// Ctrl+F are there for those who know no others.
import { copyText } from '../parts/clipboard';
import { type Command, commands } from '../parts/commands/commands';
import { generalCommands, paneCommands } from '../parts/commands/general_commands';
import { selectedFunction } from '../state/selection';
import { state } from '../state/store';
import type { Pane } from '../state/views';

// The call tree is the server's.
export const offeredPanes: readonly Pane[] = ['flame', 'table', 'both'];

export function copyLink() {
  copyText(location.href, 'Link copied');
}

function runFirst(...ids: string[]) {
  commands.value.find((command) => ids.includes(command.id))?.run();
}

export function pageCommands(): Command[] {
  const group = 'General';
  return [
    ...generalCommands(['Shift+D', 'l']),
    { id: 'find', title: 'Search', group, keys: ['Ctrl+F'], run: () => runFirst('flame.search', 'search.focus') },
    { id: 'back', title: 'Undo the last change of the view', group, keys: ['Backspace'], run: () => history.back() },
    { id: 'share.link', title: 'Copy link', group, keys: ['y'], run: copyLink },
    ...paneCommands(offeredPanes),
  ];
}

// Ctrl+C where no text is marked: the name of the function that was chosen last.
export function copyNames() {
  document.addEventListener('copy', (event) => {
    const name = selectedFunction.value ?? state.value.zoom.at(-1);
    if (!name || !getSelection()?.isCollapsed || event.target instanceof HTMLInputElement) return;
    event.clipboardData?.setData('text/plain', name);
    event.preventDefault();
  });
}
