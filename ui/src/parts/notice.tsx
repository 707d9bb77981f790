// States without content, designed alike in all views: what happened, why, and one thing to do next.
import type { ComponentChildren } from 'preact';
import { useAnswer } from '../api/answer';
import { ApiError, askJson } from '../api/client';
import { refreshNow } from '../api/refresh';
import type { Source } from '../state/state';
import { go, linkTo, state } from '../state/store';
import { absolute, resolveRange } from '../state/time';
import { formatAgo, formatTime } from '../text/format';
import { showDialog } from './dialogs';
import { classifyEmpty, errorText } from './error_text';

interface NoticeProps {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
  bad?: boolean;
}

export function Notice({ title, children, action, bad }: NoticeProps) {
  return (
    <section class="notice" role={bad ? 'alert' : 'status'}>
      <h2>{title}</h2>
      {children && <div class="notice-text">{children}</div>}
      {action && <div class="row notice-actions">{action}</div>}
    </section>
  );
}

// Something to see after a moment of waiting; nothing before, so that quick answers do not flicker.
export function Waiting({ slow, what = 'Loading' }: { slow: boolean; what?: string }) {
  return (
    <div class="waiting" role="status">
      {slow ? `${what} …` : ''}
    </div>
  );
}

// The last quarter of the range: less to read, same end.
function shorten(source: Source): Source {
  const { from, to } = resolveRange(source, Date.now());
  return { ...source, ...absolute({ from: to - (to - from) / 4, to }) };
}

interface ErrorProps {
  error: ApiError;
  retry?: () => void;
  source?: Source;
  // What the view itself knows to do, in place of the usual.
  action?: { title: string; run(): void };
}

export function ErrorNotice({ error, retry, source, action: own }: ErrorProps) {
  const current = source ?? state.value.source;
  const { title, text, action } = errorText(error, current.file !== '');
  // "No series match": why that is so needs a second look.
  if (error.kind === 'nothing' && action === 'retry' && /\bno series\b/.test(error.message)) {
    return <EmptyNotice source={current} />;
  }
  const actions = {
    retry: (
      <button type="button" class="primary" onClick={retry ?? refreshNow}>
        Try again
      </button>
    ),
    shorten: (
      <>
        {!current.file && (
          <button type="button" class="primary" onClick={() => go({ source: shorten(state.value.source) })}>
            Show the last quarter of the range
          </button>
        )}
        <button type="button" onClick={retry ?? refreshNow}>
          Try again
        </button>
      </>
    ),
    token: (
      <button type="button" class="primary" onClick={() => showDialog('token')}>
        Enter a token
      </button>
    ),
    'open-file': (
      <>
        <button type="button" class="primary" onClick={() => showDialog('files')}>
          Open a file
        </button>
        <button
          type="button"
          onClick={() => go({ view: 'services', source: { ...state.value.source, query: '', file: '' } })}
        >
          Back to the services
        </button>
      </>
    ),
    edit: (
      <button
        type="button"
        class="primary"
        onClick={() => document.querySelector<HTMLInputElement>('.selector-input')?.focus()}
      >
        Edit the selector
      </button>
    ),
    none: null,
  };
  return (
    <Notice
      title={title}
      bad
      action={
        own ? (
          <button type="button" class="primary" onClick={own.run}>
            {own.title}
          </button>
        ) : (
          actions[action]
        )
      }
    >
      {text}
    </Notice>
  );
}

interface SeriesList {
  series: { first_ns: number; last_ns: number }[];
}

// For answers that came and hold nothing: tells a wrong selector from a wrong range from a program that stopped sending.
export function EmptyNotice({ source, onChange }: { source: Source; onChange?: (source: Source) => void }) {
  const change = onChange ?? ((next: Source) => go({ source: next }));
  const parameters = new URLSearchParams({ query: source.query || '{}', from: '0', to: 'now', limit: '200' });
  const answer = useAnswer(source.file ? null : `empty ${parameters}`, async (signal) => {
    try {
      return await askJson<SeriesList>('series', parameters, signal);
    } catch (error) {
      if (error instanceof ApiError && error.kind === 'nothing') return { series: [] };
      throw error;
    }
  });
  if (source.file) {
    return (
      <Notice title="Nothing in this file matches">
        The file has no samples of this type with these labels and filters. Remove filters, or choose another type.
      </Notice>
    );
  }
  if (!answer.data) return answer.error ? <Notice title="No data in this range" /> : <Waiting slow={answer.slow} />;
  const now = Date.now();
  const range = resolveRange(source, now);
  const why = classifyEmpty(answer.data.series, range, now);
  if (why.kind === 'no-series') {
    return (
      <Notice
        title="No series matches"
        action={
          <button
            type="button"
            class="primary"
            onClick={() => document.querySelector<HTMLInputElement>('.selector-input')?.focus()}
          >
            Edit the selector
          </button>
        }
      >
        No data was ever stored for <code>{source.query || '{}'}</code>. Look for a misspelt label or value; the field
        offers those that exist.
      </Notice>
    );
  }
  const there = () => {
    const end = why.last + 1000;
    change({ ...source, ...absolute({ from: end - (range.to - range.from), to: end }) });
  };
  const goThere = (
    <button type="button" class="primary" onClick={there}>
      Go to the last data
    </button>
  );
  if (why.kind === 'stopped') {
    return (
      <Notice
        title="No recent data"
        action={
          <>
            {goThere}
            <a href={linkTo({ view: 'targets' })}>Show targets</a>
          </>
        }
      >
        The last profile came {formatAgo(why.last, now)}. The program may have ended, or its agent is down.
      </Notice>
    );
  }
  return (
    <Notice title="No data in this range" action={goThere}>
      {why.last - why.first < 1000
        ? `The only matching profile is of ${formatTime(why.last)}.`
        : `Matching profiles lie between ${formatTime(why.first)} and ${formatTime(why.last)}.`}
    </Notice>
  );
}
