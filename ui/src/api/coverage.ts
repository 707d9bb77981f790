// How far to trust what a view shows, and what it rests on, for views whose own answers do not say it.
import type { State } from '../state/state';
import { type Answer, useAnswer } from './answer';
import { askJson } from './client';
import { regionParameters, sampleParameters, sourceParameters } from './parameters';
import type { Coverage } from './types';

export function useCoverage(now: State): Answer<Coverage> {
  const { source } = now;
  const parameters = regionParameters(source, '', sampleParameters(now, sourceParameters(source)));
  return useAnswer(source.query ? `coverage ${parameters}` : null, (signal) =>
    askJson<Coverage>('coverage', parameters, signal),
  );
}
