// Short messages that come and go: a link was copied, a file was opened. Screen readers hear them; what needs an answer
// is a dialog instead.
import { signal } from '@preact/signals';
import './toast.css';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}
const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

export function toast(text: string, bad = false) {
  const id = nextId++;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  setTimeout(() => dismiss(id), bad ? 10_000 : 5000);
}

function dismiss(id: number) {
  toasts.value = toasts.value.filter((entry) => entry.id !== id);
}

export function ToastHost() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((entry) => (
        <div key={entry.id} class={entry.bad ? 'toast bad' : 'toast'}>
          <span>{entry.text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => dismiss(entry.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
