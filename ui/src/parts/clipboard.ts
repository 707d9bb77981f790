// Text to the clipboard, with a word about it. Pages without TLS have no clipboard interface: the old way serves there.
import { toast } from './toast';

function copyOldWay(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  return done;
}

export async function copyText(text: string, message: string) {
  const focused = document.activeElement as HTMLElement | null;
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else if (!copyOldWay(text)) throw new Error();
    toast(message);
  } catch {
    if (copyOldWay(text)) toast(message);
    else toast(`The browser does not let this page copy. The text:\n${text}`, true);
  }
  focused?.focus();
}
