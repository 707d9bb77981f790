// The current state as a signal, in step with the address bar. `go` makes an entry in the history (Back undoes it),
// `amend` changes the entry (typing, hovering over choices).
import { signal } from '@preact/signals';
import { defaultState, type Source, type State, type Step } from './state';
import { formatState, parseState } from './url';

const hasWindow = typeof window !== 'undefined';

// An exported page keeps its state behind the #, which works for files too, and starts from a state of its own.
let base = defaultState;
let inHash = false;

function readAddress(): State {
  return parseState(inHash ? location.hash.slice(1) : location.search, base);
}

export const state = signal<State>(hasWindow ? readAddress() : defaultState);

function address(next: State): string {
  const query = formatState(next, base);
  if (!hasWindow) return query;
  return inHash ? `#${query.slice(1)}` : location.pathname + query;
}

export function keepInHash(start: State) {
  base = start;
  inHash = true;
  state.value = readAddress();
}

// States that stand for one address are not told apart: Back would seem to do nothing.
function moves(next: State): boolean {
  return formatState(next, base) !== formatState(state.value, base);
}

export function go(change: Partial<State>) {
  const next = { ...state.value, ...change };
  if (!moves(next)) return;
  state.value = next;
  if (hasWindow) history.pushState(null, '', address(next));
}

export function amend(change: Partial<State>) {
  const next = { ...state.value, ...change };
  if (!moves(next)) return;
  state.value = next;
  if (hasWindow) history.replaceState(null, '', address(next));
}

export function goSource(change: Partial<Source>) {
  go({ source: { ...state.value.source, ...change }, zoom: [] });
}

export function addStep(step: Step) {
  go({ steps: [...state.value.steps, step], zoom: [] });
}

export function removeStep(index: number) {
  go({ steps: state.value.steps.filter((_, i) => i !== index), zoom: [] });
}

// For <a href>: so that a middle click opens another tab, and a copied link is one.
export function linkTo(change: Partial<State>): string {
  return address({ ...state.value, ...change });
}

if (hasWindow) {
  window.addEventListener('popstate', () => {
    state.value = readAddress();
  });
}
