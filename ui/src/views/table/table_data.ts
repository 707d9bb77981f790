// The rows of the table as the server has them.
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { comparisonParameters, reportParameters } from '../../api/parameters';
import type { Diff, Top } from '../../api/types';
import type { TableData } from '../../flame/answers';
import type { State } from '../../state/state';
import { state } from '../../state/store';
import { matchOf, serverExpression } from '../../text/match';

// More than anybody reads and still quick to send; the answer says what it left out.
const mostRows = 50_000;

function question(now: State, compare: boolean): URLSearchParams {
  const parameters = compare ? comparisonParameters(now) : reportParameters(now);
  parameters.set('rows', String(mostRows));
  return parameters;
}

// The whole table; and when that was cut, what the search and the filter find in all of it.
function useTable<T extends Top | Diff>(path: string, compare: boolean): TableData<T> {
  const now = state.value;
  const whole = question(now, compare);
  const asked = compare && !now.baseline ? null : `${path}?${whole}`;
  const answer = useAnswer<T>(asked, (signal) => askJson<T>(path, whole, signal));
  const narrow = new URLSearchParams(whole);
  const expression = matchOf(now.search).error ? '' : serverExpression(now.search);
  if (expression) narrow.set('match', expression);
  if (compare && now.change !== 'all') narrow.set('change', now.change);
  const isCut = (answer.data?.cut.rows ?? 0) > 0 && `${narrow}` !== `${whole}`;
  const part = useAnswer<T>(isCut ? `${path}?${narrow}` : null, (signal) => askJson<T>(path, narrow, signal));
  return { answer, data: isCut ? (part.data ?? answer.data) : answer.data };
}

export const useServerTop = () => useTable<Top>('top', false);
export const useServerDiff = () => useTable<Diff>('diff', true);
