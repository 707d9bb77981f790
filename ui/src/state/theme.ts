// Light or dark: what the system says, unless the person chose. The choice stays in this browser and out of links.
import { effect, signal } from '@preact/signals';
import { browserStorage } from './storage';

export type ThemeChoice = 'system' | 'light' | 'dark';
const key = 'vesta-theme';

const storage = () => browserStorage('localStorage');

function stored(): ThemeChoice {
  const value = storage()?.getItem(key);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const themeChoice = signal<ThemeChoice>(stored());
const systemDark = signal(typeof matchMedia !== 'undefined' && matchMedia('(prefers-color-scheme: dark)').matches);

export function isDark(): boolean {
  return themeChoice.value === 'dark' || (themeChoice.value === 'system' && systemDark.value);
}

export function chooseTheme(choice: ThemeChoice) {
  themeChoice.value = choice;
  if (choice === 'system') storage()?.removeItem(key);
  else storage()?.setItem(key, choice);
}

export function startTheme() {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
    systemDark.value = event.matches;
  });
  effect(() => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  });
}
