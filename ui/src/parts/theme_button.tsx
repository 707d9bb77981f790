// Light, dark or as the system, as a button with a menu.
import { useRef } from 'preact/hooks';
import { chooseTheme, type ThemeChoice, themeChoice } from '../state/theme';
import { showMenu } from './menu';

const themes: [ThemeChoice, string][] = [
  ['system', 'Same as system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

export function ThemeButton() {
  const button = useRef<HTMLButtonElement>(null);
  const choice = themeChoice.value;
  return (
    <button
      ref={button}
      type="button"
      class="quiet top-icon"
      aria-haspopup="menu"
      aria-label="Light or dark"
      title="Light or dark"
      onClick={() => {
        const { right, bottom } = button.current!.getBoundingClientRect();
        showMenu({
          x: right - 200,
          y: bottom + 4,
          label: 'Light or dark',
          restore: button.current!,
          groups: [
            {
              items: themes.map(([theme, title]) => ({
                title,
                checked: theme === choice,
                run: () => chooseTheme(theme),
              })),
            },
          ],
        });
      }}
    >
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
        <path d="M8 1.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor" />
      </svg>
    </button>
  );
}
