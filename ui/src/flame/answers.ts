// Where the stacks on screen come from: a server, or the page itself. Both panes ask here, so that an exported page is made
// of the same components.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer } from '../api/answer';
import type { ApiError } from '../api/client';
import type { Diff, Top } from '../api/types';
import type { Built } from '../engine/job';

export interface FlameData {
  built?: Built;
  error?: ApiError;
  sandwichError?: ApiError;
  loading: boolean;
  slow: boolean;
  expanding: boolean;
  // Whether names on screen lead to the same frame where the answer comes from, so that what was cut can be asked for.
  canExpand: boolean;
  // Asks for what was cut below a frame; does nothing the second time. With `nodes` it may take so many.
  expand(path: string[], nodes?: number): void;
}

export interface TableData<T> {
  answer: Answer<T>;
  data?: T; // what the answer has, or the part of it that was looked for
}

export interface Answers {
  server: boolean; // else nothing that only a server can do is offered: larger budgets, labels, source files
  useFlame(compare: boolean): FlameData;
  useTop(): TableData<Top>;
  useDiff(): TableData<Diff>;
}

export const AnswersContext = createContext<Answers | null>(null);

export function useAnswers(): Answers {
  const answers = useContext(AnswersContext);
  if (!answers) throw new Error('a pane is shown without answers around it');
  return answers;
}
