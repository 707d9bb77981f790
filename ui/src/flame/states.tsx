// When there is no flame graph: why, and the one thing to do about it.
import type { ApiError } from '../api/client';
import { ErrorNotice } from '../parts/notice';
import { go, goSource, state } from '../state/store';
import { widenRange } from '../state/time';

interface Action {
  title: string;
  run(): void;
}

function widen(): Action {
  return { title: 'Twice the time range', run: () => goSource(widenRange(state.value.source, Date.now())) };
}

// What a flame graph can do about an error that other views cannot: ask for less, or with fewer steps.
function actionFor(error: ApiError): Action | undefined {
  const { steps, nodes } = state.value;
  if ((error.kind === 'timeout' || error.kind === 'limit') && nodes > 0) {
    return { title: 'Load fewer nodes', run: () => go({ nodes: 0 }) };
  }
  if (steps.length === 0) return undefined;
  if (error.kind === 'nothing') return { title: 'Remove the steps', run: () => go({ steps: [], zoom: [] }) };
  if (error.kind === 'bad')
    return { title: 'Undo the last step', run: () => go({ steps: steps.slice(0, -1), zoom: [] }) };
  return undefined;
}

export function ErrorState({ error }: { error: ApiError }) {
  return <ErrorNotice error={error} action={actionFor(error)} />;
}

export function EmptyState({ server }: { server: boolean }) {
  const { steps, search, matching } = state.value;
  const filtered = steps.length > 0 || (matching && search !== '');
  const action = filtered
    ? { title: 'Remove filters', run: () => go({ steps: [], matching: false, zoom: [] }) }
    : server
      ? widen()
      : null;
  return (
    <div class="notice" role="status">
      <h2>{filtered ? 'No stacks left' : server ? 'No samples in this range' : 'No samples'}</h2>
      <p class="muted">
        {filtered
          ? 'The steps and the search filter out all samples.'
          : server
            ? 'The series exists, but nothing was recorded in the selected time range.'
            : 'The profile has no samples.'}
      </p>
      {action && (
        <button type="button" class="primary" onClick={action.run}>
          {action.title}
        </button>
      )}
    </div>
  );
}

export function NothingChosen({ compare }: { compare: boolean }) {
  const what = compare && state.value.baseline === null;
  return (
    <div class="notice" role="status">
      <h2>{what ? 'Nothing to compare with' : 'Nothing is selected'}</h2>
      <p class="muted">
        {what ? 'Choose a baseline: another range, version or service.' : 'Choose a service and a profile type.'}
      </p>
      <button type="button" class="primary" onClick={() => go({ view: what ? 'explore' : 'services' })}>
        {what ? 'Back to explore' : 'Show all services'}
      </button>
    </div>
  );
}
