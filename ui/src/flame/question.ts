// The state as questions to the server and as work for the worker.
import { comparisonParameters, reportParameters } from '../api/parameters';
import type { Job } from '../engine/job';
import type { State } from '../state/state';
import { serverExpression } from '../text/match';

const leastNodes = 100_000;
export const mostNodes = 1_000_000;

export interface Question {
  path: string;
  parameters: URLSearchParams;
}

export function hasSource(state: State): boolean {
  return state.source.query !== '' || state.source.file !== '';
}

// `search` is that of the state, once typing has paused.
export function flameQuestion(state: State, compare: boolean, search: string): Question {
  const both = compare && state.baseline !== null;
  const parameters = both ? comparisonParameters(state) : reportParameters(state);
  parameters.set('format', 'columns');
  if (state.nodes > 0) parameters.set('nodes', String(state.nodes));
  // Two selections are inverted in the worker: the server has no such answer.
  if (state.inverted && !both) parameters.set('inverted', '1');
  if (state.root) parameters.set('root_by', state.root);
  const wanted = state.matching ? serverExpression(search) : '';
  if (wanted) parameters.append('focus', wanted);
  return { path: both ? 'diff/flame' : 'flame', parameters };
}

export function callersQuestion(state: State, compare: boolean): Question | null {
  if (!state.sandwich || (compare && state.baseline)) return null;
  const parameters = reportParameters(state);
  parameters.set('function', state.sandwich);
  if (state.nodes > 0) parameters.set('nodes', String(state.nodes));
  return { path: 'callers', parameters };
}

export function jobOf(state: State, compare: boolean, search: string, callers: string): Job {
  const both = compare && state.baseline !== null;
  return {
    recursion: state.recursion,
    byWeight: state.order === 'weight',
    inverted: both && state.inverted,
    search: state.matching ? search : '',
    sandwich: both ? state.sandwich : '',
    callers,
  };
}

// Whether names on screen lead to the same frame on the server, so that what was cut can be asked for.
export function canExpand(state: State, compare: boolean): boolean {
  return !state.recursion && !(compare && state.baseline && state.inverted);
}

// How many nodes to ask for at once, so that what was cut below a frame comes too; `shown` of them are there already.
export function fullBudget(nodes: number, shown: number, cut: number): number {
  return Math.min(mostNodes, Math.max(shown + cut, nodes, leastNodes));
}

// The same where a part cannot be asked for, only all again; null when that would bring nothing more. What is shown there
// may be less than what the server sent, so it asks for twice as much at least.
export function largerBudget(nodes: number, shown: number, cut: number): number | null {
  if (cut === 0 || nodes >= mostNodes) return null;
  return fullBudget(2 * nodes, shown, cut);
}
