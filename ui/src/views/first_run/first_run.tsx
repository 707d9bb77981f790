// The first page of an empty store: how data gets here. Addresses are those of this server, ready to be copied.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { refreshNow } from '../../api/refresh';
import { loadServerConfig } from '../../api/server_config';
import { copyText } from '../../parts/clipboard';
import { showDialog } from '../../parts/dialogs';
import { readFormats } from '../../text/formats.gen';
import { snippets } from './first_run_snippets';
import './first_run.css';

const lookEvery = 5000;

export function FirstRun({ notes }: { notes?: ComponentChildren }) {
  useEffect(() => {
    const timer = setInterval(() => {
      loadServerConfig();
      refreshNow();
    }, lookEvery);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="first-run">
      <h1>No profiles yet</h1>
      <p class="muted" role="status">
        Send profiles in any of these ways. This page shows them as soon as the first one arrives.
      </p>
      {notes}
      <div class="first-run-cards">
        {snippets(location.origin, location.hostname).map((snippet) => (
          <section key={snippet.title} class="first-run-card">
            <div class="row spread">
              <h2>{snippet.title}</h2>
              <button
                type="button"
                aria-label={`Copy: ${snippet.title}`}
                onClick={() => copyText(snippet.text, 'Copied')}
              >
                Copy
              </button>
            </div>
            <p class="muted">{snippet.why}</p>
            <pre>{snippet.text}</pre>
          </section>
        ))}
        <section class="first-run-card">
          <h2>Open a file</h2>
          <p class="muted">
            Drop a profile anywhere on this page: {readFormats}. Two files are compared. Nothing is stored.
          </p>
          <button type="button" class="primary" onClick={() => showDialog('files')}>
            Open file
          </button>
        </section>
      </div>
    </div>
  );
}
