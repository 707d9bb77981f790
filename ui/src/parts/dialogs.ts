// Which of the frame's dialogs is open; one at a time.
import { signal } from '@preact/signals';

export type DialogName = 'palette' | 'help' | 'token' | 'files';
export const openDialog = signal<DialogName | null>(null);

export function showDialog(name: DialogName) {
  openDialog.value = name;
}
export function closeDialog() {
  openDialog.value = null;
}
