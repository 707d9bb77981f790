// Asks for a token when the server wants one. It stays in this tab.
import { useState } from 'preact/hooks';
import { refused, setToken, token } from '../api/client';
import { refreshNow } from '../api/refresh';
import { loadServerConfig } from '../api/server_config';
import { Dialog } from '../parts/dialog';

export default function TokenDialog({ onClose }: { onClose(): void }) {
  const [value, setValue] = useState('');
  const had = token.value !== '';
  return (
    <Dialog title="Token required" onClose={onClose}>
      <form
        class="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          setToken(value.trim());
          refused.value = null;
          onClose();
          loadServerConfig();
          refreshNow();
        }}
      >
        <p>
          {had
            ? 'The server rejected the token of this tab: it may have expired or been revoked.'
            : 'This server requires a token.'}{' '}
          Its administrator makes one with <code>vesta token create --scope read</code>.
        </p>
        <label for="token-field">Token</label>
        <input
          id="token-field"
          type="password"
          autoFocus
          autocomplete="off"
          placeholder="vesta_…"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <p class="muted">It is kept until this tab is closed, and never part of a link.</p>
        <div class="row">
          <button type="submit" class="primary" disabled={!value.trim()}>
            Use token
          </button>
          {had && (
            <button
              type="button"
              onClick={() => {
                setToken('');
                onClose();
                refreshNow();
              }}
            >
              Forget the old token
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
