// Files dropped anywhere on the page. What could not be read is shown where files are opened.
import { signal } from '@preact/signals';
import { closeDialog, showDialog } from '../../app/dialogs';
import type { OpenFailure } from './files';

export const dragging = signal(false);
export const busy = signal(false);
export const failures = signal<readonly OpenFailure[]>([]);

export async function take(files: readonly File[]) {
  if (files.length === 0 || busy.value) return;
  busy.value = true;
  failures.value = [];
  try {
    const { openFiles } = await import('./files');
    failures.value = await openFiles(files);
  } finally {
    busy.value = false;
  }
  if (failures.value.length > 0) showDialog('files');
  else closeDialog();
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function startDropping() {
  let depth = 0; // enter and leave come for every element passed
  const over = (event: DragEvent) => {
    if (hasFiles(event)) event.preventDefault();
  };
  window.addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    ++depth;
    dragging.value = true;
  });
  window.addEventListener('dragleave', (event) => {
    if (!hasFiles(event)) return;
    depth = Math.max(0, depth - 1);
    if (depth === 0) dragging.value = false;
  });
  window.addEventListener('dragover', over);
  window.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    dragging.value = false;
    take([...event.dataTransfer!.files]);
  });
}
