// Two selections against each other: what the commands and the buttons of several views do.
import { go, state } from '../state/store';
import { previousRange } from '../state/time';
import { showDialog } from './dialogs';
import { toast } from './toast';

export function setBaseline() {
  go({ baseline: { ...state.value.source } });
  toast('Baseline set. Change the selector or the range, then compare.');
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
