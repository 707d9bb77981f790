// Opening files: a place to drop them, a button, and the list of those that are open.
import { useRef, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { refreshNow } from '../../api/refresh';
import { Dialog } from '../../parts/dialog';
import { Waiting } from '../../parts/notice';
import { formatCount } from '../../text/format';
import { visibleText } from '../../text/safe';
import { failures, opening, take } from './drop';
import { accepted, compareFiles, forgetFile, listFiles, lookAt, type OpenedFile } from './files';
import { OpeningProgress } from './opening';
import './files.css';

export default function FileDialog({ onClose }: { onClose(): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="Open file" onClose={onClose} size="large">
      <p class="muted">
        The same views for a profile from anywhere. The server reads it into memory and forgets it after an hour without
        a look; nothing is stored. Two files at once are compared.
      </p>
      <div class="files-drop">
        <input
          ref={input}
          class="hidden-text"
          type="file"
          multiple
          tabIndex={-1}
          aria-label="Files"
          onChange={(event) => take([...(event.currentTarget.files ?? [])])}
        />
        {opening.value ? (
          <OpeningProgress />
        ) : (
          <>
            <button type="button" class="primary" onClick={() => input.current!.click()}>
              Choose files
            </button>
            <span class="muted">or drop them anywhere on the page</span>
          </>
        )}
      </div>
      <p class="muted files-accepted">Read: {accepted}.</p>
      {failures.value.length > 0 && (
        <div class="files-failures" role="alert">
          {failures.value.map((failure) => (
            <p key={failure.name}>
              <strong>{failure.name}</strong>: {failure.message}
              {failure.hint && <span class="files-hint">{failure.hint}</span>}
            </p>
          ))}
        </div>
      )}
      <FileList onClose={onClose} />
    </Dialog>
  );
}

function FileList({ onClose }: { onClose(): void }) {
  const answer = useAnswer('files', listFiles);
  const [baseline, setBaseline] = useState<OpenedFile | null>(null);
  if (!answer.data) return <Waiting slow={answer.slow} what="Loading the list" />;
  if (answer.data.length === 0) return null;
  return (
    <>
      <h3>Open now</h3>
      <ul class="files-list">
        {answer.data.map((file) => (
          <li key={file.id}>
            <span class="files-name">
              <strong>{visibleText(file.name) || file.id}</strong>
              <span class="muted">
                {file.format} · {file.types.map((type) => visibleText(type.name || type.type)).join(', ')} ·{' '}
                {formatCount(file.types.reduce((sum, type) => Math.max(sum, type.samples), 0))} samples
              </span>
            </span>
            <span class="row">
              {baseline && baseline.id !== file.id ? (
                <button
                  type="button"
                  class="primary"
                  onClick={() => {
                    compareFiles(baseline, file);
                    onClose();
                  }}
                >
                  Compare with {visibleText(baseline.name)}
                </button>
              ) : (
                <button
                  type="button"
                  aria-pressed={baseline?.id === file.id}
                  onClick={() => setBaseline(baseline ? null : file)}
                >
                  Baseline
                </button>
              )}
              <button
                type="button"
                aria-label={`Open ${visibleText(file.name)}`}
                onClick={() => {
                  lookAt(file);
                  onClose();
                }}
              >
                Look
              </button>
              <button
                type="button"
                class="quiet"
                aria-label={`Close ${visibleText(file.name)}`}
                onClick={() => forgetFile(file.id).finally(refreshNow)}
              >
                ×
              </button>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
