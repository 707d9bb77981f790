// What can be done from every view: where to go, when, how it looks, what to hand on.
import { paused, refreshNow } from '../api/refresh';
import { presets } from '../parts/range_words';
import { toast } from '../parts/toast';
import type { Pane, View } from '../state/state';
import { amend, go, state } from '../state/store';
import { previousRange, shiftRange, widenRange } from '../state/time';
import type { Command } from './commands';
import { showDialog } from './dialogs';
import { shareCommands } from './share';
import { chooseTheme, isDark } from './theme';
import { viewTitles } from './views';

const panes: [Pane, string][] = [
  ['flame', 'Flame graph'],
  ['table', 'Table'],
  ['tree', 'Call tree'],
  ['both', 'Flame graph and table'],
];
const hasPanes = () => state.value.view === 'explore' || state.value.view === 'diff';
const hasSource = () => state.value.source.query !== '';
const fromStore = () => state.value.source.file === '';

function changeRange(words: { from: string; to: string }) {
  go({ source: { ...state.value.source, ...words } });
}

export function setBaseline() {
  go({ baseline: { ...state.value.source } });
  toast('This is the baseline now. Change the selector or the range, then compare.');
}

// With what was marked; else with the time just before.
export function compare() {
  const { source, baseline } = state.value;
  if (source.file && !baseline) {
    toast('Open the file to compare with, or choose a baseline in the list.');
    return showDialog('files');
  }
  go({ view: 'diff', baseline: baseline ?? { ...source, ...previousRange(source, Date.now()) } });
}

export function shellCommands(menuViews: readonly View[]): Command[] {
  return [
    { id: 'help', title: 'Keys and commands', group: 'General', keys: ['?'], run: () => showDialog('help') },
    { id: 'palette', title: 'Find a command', group: 'General', keys: ['Ctrl+K'], run: () => showDialog('palette') },
    { id: 'files', title: 'Open file', group: 'General', keys: ['o'], run: () => showDialog('files') },
    {
      id: 'theme',
      title: 'Light or dark',
      group: 'General',
      keys: ['Shift+D'],
      run: () => chooseTheme(isDark() ? 'light' : 'dark'),
    },
    { id: 'theme.system', title: 'Light or dark as the system', group: 'General', run: () => chooseTheme('system') },
    { id: 'token', title: 'Enter a token', group: 'General', run: () => showDialog('token') },
    ...menuViews.map((view) => ({
      id: `go.${view}`,
      title: `Go to ${viewTitles[view]}`,
      group: 'Views',
      run: () => go({ view }),
    })),
    ...panes.map(([pane, title], index) => ({
      id: `pane.${pane}`,
      title,
      group: 'Views',
      keys: [String(index + 1)],
      run: () => go({ pane }),
      enabled: hasPanes,
    })),
    {
      id: 'range.earlier',
      title: 'Earlier',
      group: 'Time',
      keys: ['['],
      run: () => changeRange(shiftRange(state.value.source, -1, Date.now())),
      enabled: fromStore,
    },
    {
      id: 'range.later',
      title: 'Later',
      group: 'Time',
      keys: [']'],
      run: () => changeRange(shiftRange(state.value.source, 1, Date.now())),
      enabled: () => fromStore() && state.value.source.to !== 'now',
    },
    {
      id: 'range.wider',
      title: 'Twice as long',
      group: 'Time',
      keys: ['-'],
      run: () => changeRange(widenRange(state.value.source, Date.now())),
      enabled: fromStore,
    },
    ...presets.map(([word, title]) => ({
      id: `range.${word}`,
      title,
      group: 'Time',
      run: () => changeRange({ from: word, to: 'now' }),
      enabled: fromStore,
    })),
    { id: 'refresh', title: 'Look again', group: 'Time', keys: ['Shift+R'], run: refreshNow },
    ...[0, 5, 15, 60].map((seconds) => ({
      id: `live.${seconds}`,
      title: seconds ? `Live refresh every ${seconds} s` : 'Live refresh off',
      group: 'Time',
      run: () => amend({ refresh: seconds }),
    })),
    {
      id: 'live.pause',
      title: 'Pause or resume live refresh',
      group: 'Time',
      keys: ['p'],
      run: () => {
        paused.value = !paused.value;
        toast(paused.value ? 'Live refresh paused' : 'Live refresh resumed');
      },
      enabled: () => state.value.refresh > 0,
    },
    { id: 'baseline', title: 'Set as baseline', group: 'Compare', keys: ['b'], run: setBaseline, enabled: hasSource },
    {
      id: 'compare',
      title: 'Compare with the baseline, or the time before',
      group: 'Compare',
      keys: ['Shift+C'],
      run: compare,
      enabled: hasSource,
    },
    {
      id: 'baseline.clear',
      title: 'Clear the baseline',
      group: 'Compare',
      run: () => go({ baseline: null }),
      enabled: () => state.value.baseline !== null,
    },
    ...shareCommands(),
  ];
}
