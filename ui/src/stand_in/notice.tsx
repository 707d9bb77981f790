// Until parts/notice.tsx is here.
import type { ApiError, ErrorKind } from '../api/client';
import { refreshNow } from '../api/refresh';
import { goSource, isFile } from '../state/store';

const headings: Record<ErrorKind, string> = {
  gone: 'The server does not answer',
  timeout: 'This took too long',
  token: 'This server wants a token',
  forbidden: 'Your token does not allow this',
  bad: 'The question has a mistake',
  nothing: 'No profiles here',
  limit: 'This is more than the server gives at once',
  server: 'The server failed',
};

function Action({ kind }: { kind: ErrorKind }) {
  if (kind === 'nothing' && !isFile.value) {
    return (
      <button type="button" onClick={() => goSource({ from: 'now-1d', to: 'now' })}>
        Look at the last day
      </button>
    );
  }
  if (kind === 'bad' || kind === 'forbidden' || kind === 'token' || kind === 'nothing') return null;
  return (
    <button type="button" onClick={refreshNow}>
      Ask again
    </button>
  );
}

export function ErrorNotice({ error }: { error: ApiError }) {
  return (
    <div class="notice" role="alert">
      <h2>{headings[error.kind]}</h2>
      <p>
        {error.message}
        {error.hint && <span class="muted"> · {error.hint}</span>}
      </p>
      <Action kind={error.kind} />
    </div>
  );
}
