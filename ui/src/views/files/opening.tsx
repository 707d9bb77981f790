// A file on its way: how much was sent, then that the server reads it; and a way to stop both.
import { formatValue } from '../../text/format';
import { opening, stopOpening } from './drop';
import './opening.css';

export function OpeningProgress() {
  const now = opening.value;
  if (!now) return null;
  const sending = now.sent < now.size;
  const size = formatValue(now.size, 'bytes');
  return (
    <div class="opening">
      <p role="status">
        {sending ? 'Sending' : 'The server reads'} <strong>{now.name}</strong>
      </p>
      <progress aria-label={sending ? 'Sent' : 'Reading'} {...(sending ? { value: now.sent, max: now.size } : {})} />
      <p class="muted">{sending ? `${formatValue(now.sent, 'bytes')} of ${size}` : `${size}, all of it sent`}</p>
      <button type="button" onClick={stopOpening}>
        Cancel
      </button>
    </div>
  );
}
