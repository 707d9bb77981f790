// What can be done from every view: where to go, when, how it looks, what to hand on.
import { paused, refreshNow } from '../api/refresh';
import type { Command } from '../parts/commands/commands';
import { generalCommands, paneCommands } from '../parts/commands/general_commands';
import { compare, setBaseline } from '../parts/compare';
import { showDialog } from '../parts/dialogs';
import { presets } from '../parts/range_words';
import { toast } from '../parts/toast';
import { amend, go, state } from '../state/store';
import { shiftRange, widenRange } from '../state/time';
import { menuViews, views } from '../state/views';
import { shareCommands } from './share';

const hasPanes = () => views[state.value.view].panes === true;
const hasSource = () => state.value.source.query !== '';
const fromStore = () => state.value.source.file === '';

function changeRange(words: { from: string; to: string }) {
  go({ source: { ...state.value.source, ...words } });
}

export function shellCommands(): Command[] {
  return [
    ...generalCommands(),
    { id: 'files', title: 'Open file', group: 'General', keys: ['o'], run: () => showDialog('files') },
    { id: 'token', title: 'Enter a token', group: 'General', run: () => showDialog('token') },
    ...menuViews.map((view) => ({
      id: `go.${view}`,
      title: `Go to ${views[view].title}`,
      group: 'Views',
      run: () => go({ view }),
    })),
    ...paneCommands(undefined, hasPanes),
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
    { id: 'refresh', title: 'Refresh', group: 'Time', keys: ['Shift+R'], run: refreshNow },
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
