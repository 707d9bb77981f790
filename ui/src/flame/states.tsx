// When there is no flame graph: why, and the one thing to do about it.
import { type ApiError, setToken, token } from '../api/client';
import { refreshNow } from '../api/refresh';
import { go, goSource, state } from '../state/store';
import { widenRange } from '../state/time';
import { visibleText } from '../text/safe';

interface Action {
  title: string;
  run(): void;
}

function widen(): Action {
  return { title: 'Twice the time range', run: () => goSource(widenRange(state.value.source, Date.now())) };
}

function actionFor(error: ApiError): Action {
  switch (error.kind) {
    case 'nothing':
      return state.value.steps.length > 0
        ? { title: 'Remove the steps', run: () => go({ steps: [], zoom: [] }) }
        : { title: 'Look at all services', run: () => go({ view: 'services' }) };
    case 'timeout':
    case 'limit':
      return state.value.nodes > 0
        ? { title: 'Ask for fewer nodes', run: () => go({ nodes: 0 }) }
        : { title: 'Try again', run: refreshNow };
    case 'bad':
      return state.value.steps.length > 0
        ? { title: 'Undo the last step', run: () => go({ steps: state.value.steps.slice(0, -1), zoom: [] }) }
        : { title: 'Try again', run: refreshNow };
    case 'token':
      return token.value
        ? { title: 'Forget the token', run: () => setToken('') }
        : { title: 'Try again', run: refreshNow };
    default:
      return { title: 'Try again', run: refreshNow };
  }
}

const titles: Record<ApiError['kind'], string> = {
  gone: 'The server does not answer',
  timeout: 'The question took too long',
  token: 'A token is needed',
  forbidden: 'You may not see this',
  bad: 'The question is not right',
  nothing: 'Nothing matches',
  limit: 'Too much at once',
  server: 'The server could not answer',
};

export function ErrorState({ error }: { error: ApiError }) {
  const action = actionFor(error);
  return (
    <div class="notice" role="alert">
      <h2>{titles[error.kind]}</h2>
      <p>
        {visibleText(error.message)}
        {error.hint && <span class="muted">; {visibleText(error.hint)}</span>}
      </p>
      <button type="button" class="primary" onClick={action.run}>
        {action.title}
      </button>
    </div>
  );
}

export function EmptyState() {
  const { steps, search, matching } = state.value;
  const filtered = steps.length > 0 || (matching && search !== '');
  const action = filtered
    ? { title: 'Remove filters', run: () => go({ steps: [], matching: false, zoom: [] }) }
    : widen();
  return (
    <div class="notice" role="status">
      <h2>{filtered ? 'No stacks are left' : 'No samples in this range'}</h2>
      <p class="muted">
        {filtered
          ? 'There are samples, but the steps and the search leave none of them.'
          : 'The series exists, but nothing was recorded in the time that is chosen.'}
      </p>
      <button type="button" class="primary" onClick={action.run}>
        {action.title}
      </button>
    </div>
  );
}

export function NothingChosen({ compare }: { compare: boolean }) {
  const what = compare && state.value.baseline === null;
  return (
    <div class="notice" role="status">
      <h2>{what ? 'Nothing to compare with' : 'Nothing is selected'}</h2>
      <p class="muted">
        {what ? 'Choose a baseline: another range, version or service.' : 'Choose a service and a kind of profile.'}
      </p>
      <button type="button" class="primary" onClick={() => go({ view: what ? 'explore' : 'services' })}>
        {what ? 'Back to explore' : 'Look at all services'}
      </button>
    </div>
  );
}
