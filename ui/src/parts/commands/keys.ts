// Keys as text ("i", "Shift+N", "Ctrl+K", "?") against keyboard events. Ctrl stands for Command on Macs as well.
import type { Command } from './commands';

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

const isLetter = (key: string) => key.length === 1 && key.toLowerCase() !== key.toUpperCase();

export function keyMatches(wanted: string, press: KeyPress): boolean {
  const parts = wanted.length > 1 ? wanted.split(/\+(?=.)/) : [wanted];
  const key = parts.pop()!;
  const control = parts.includes('Ctrl');
  const alt = parts.includes('Alt');
  if (control !== (press.ctrlKey || press.metaKey) || alt !== press.altKey) return false;
  if (isLetter(key)) {
    // The Shift key decides, not Caps Lock.
    const shift = parts.includes('Shift') || (key !== key.toLowerCase() && !control && !alt);
    return press.key.toLowerCase() === key.toLowerCase() && shift === press.shiftKey;
  }
  // Which signs need Shift depends on the keyboard: "?" is "?" wherever it is.
  if (key.length === 1) return press.key === key;
  return press.key === key && parts.includes('Shift') === press.shiftKey;
}

const labels: Record<string, string> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  ' ': 'Space',
};

// As it is printed on keys.
export function keyLabel(key: string): string {
  const parts = key.length > 1 ? key.split(/\+(?=.)/) : [key];
  return parts.map((part) => labels[part] ?? part).join('+');
}

// Whether letters pressed there are text, or choose from a list.
export function takesText(target: { tagName?: string; type?: string; isContentEditable?: boolean } | null): boolean {
  if (!target?.tagName) return false;
  const tag = target.tagName.toUpperCase();
  if (tag === 'INPUT') {
    return !['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'file', 'color'].includes(
      target.type ?? 'text',
    );
  }
  return tag === 'TEXTAREA' || tag === 'SELECT' || target.isContentEditable === true;
}

// A component that came later is nearer to what is being done: its command wins.
export function commandFor(press: KeyPress, list: readonly Command[], inText: boolean): Command | undefined {
  if (inText && !press.ctrlKey && !press.metaKey && !press.altKey) return undefined;
  for (let i = list.length - 1; i >= 0; --i) {
    const command = list[i];
    if (command.keys?.some((key) => keyMatches(key, press)) && (command.enabled?.() ?? true)) return command;
  }
  return undefined;
}
