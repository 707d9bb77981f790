// What can be done in the web UI as in an exported page: find a command, choose the theme, and how stacks are shown.
import { go } from '../../state/store';
import { chooseTheme, isDark } from '../../state/theme';
import { type Pane, paneNames, panes } from '../../state/views';
import { showDialog } from '../dialogs';
import type { Command } from './commands';

export function generalCommands(themeKeys = ['Shift+D']): Command[] {
  const group = 'General';
  return [
    { id: 'help', title: 'Keys and commands', group, keys: ['?'], run: () => showDialog('help') },
    { id: 'palette', title: 'Find a command', group, keys: ['Ctrl+K'], run: () => showDialog('palette') },
    {
      id: 'theme',
      title: 'Light or dark',
      group,
      keys: themeKeys,
      run: () => chooseTheme(isDark() ? 'light' : 'dark'),
    },
    { id: 'theme.system', title: 'Use the system theme', group, run: () => chooseTheme('system') },
  ];
}

// A pane has the same key wherever it is offered.
export function paneCommands(offered: readonly Pane[] = paneNames, enabled?: () => boolean): Command[] {
  return offered.map((pane) => ({
    id: `pane.${pane}`,
    title: panes[pane].long,
    group: 'Views',
    keys: [String(paneNames.indexOf(pane) + 1)],
    run: () => go({ pane }),
    enabled,
  }));
}
