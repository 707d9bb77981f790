// What the top bars of the web UI and of an exported page share: the mark, and the buttons at the right end.
import { showDialog } from './dialogs';
import { ThemeButton } from './theme_button';

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <rect x="3" y="4" width="26" height="6" rx="1.5" fill="#f2b950" />
      <rect x="3" y="13" width="17" height="6" rx="1.5" fill="#ee8a43" />
      <rect x="3" y="22" width="9" height="6" rx="1.5" fill="#dd5138" />
    </svg>
  );
}

export function GeneralTools() {
  return (
    <>
      <button
        type="button"
        class="quiet top-search"
        aria-label="Find a command (Ctrl+K)"
        onClick={() => showDialog('palette')}
      >
        <kbd>Ctrl+K</kbd>
      </button>
      <button
        type="button"
        class="quiet top-icon"
        aria-label="Keys and commands"
        title="Keys and commands"
        onClick={() => showDialog('help')}
      >
        ?
      </button>
      <ThemeButton />
    </>
  );
}
