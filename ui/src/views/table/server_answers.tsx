// Stacks of the server for the panes inside.
import type { ComponentChildren } from 'preact';
import { type Answers, AnswersContext } from '../../flame/answers';
import { useServerFlame } from '../../flame/flame_data';
import { useServerDiff, useServerTop } from './table_data';

const ofServer: Answers = { server: true, useFlame: useServerFlame, useTop: useServerTop, useDiff: useServerDiff };

export function ServerAnswers({ children }: { children: ComponentChildren }) {
  return <AnswersContext.Provider value={ofServer}>{children}</AnswersContext.Provider>;
}
