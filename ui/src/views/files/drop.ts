// Files dropped anywhere on the page. What could not be read is shown where files are opened.
import { signal } from '@preact/signals';
import { closeDialog, showDialog } from '../../parts/dialogs';
import { toast } from '../../parts/toast';
import { visibleText } from '../../text/safe';
import type { OpenFailure } from './files';

// The file on its way: sent so far, then read by the server.
export interface Opening {
  name: string;
  sent: number;
  size: number;
}

export const dragging = signal(false);
export const opening = signal<Opening | null>(null);
export const failures = signal<readonly OpenFailure[]>([]);
let stopper: AbortController | null = null;

export async function take(files: readonly File[]) {
  if (files.length === 0 || opening.value) return;
  stopper = new AbortController();
  const { signal } = stopper;
  opening.value = { name: visibleText(files[0].name), sent: 0, size: files[0].size };
  failures.value = [];
  try {
    const { openFiles } = await import('./files');
    const onSent = (file: File, sent: number) => {
      opening.value = { name: visibleText(file.name), sent, size: file.size };
    };
    failures.value = await openFiles(files, { signal, onSent });
  } catch (error) {
    if (!signal.aborted) throw error;
    toast(`Cancelled; ${opening.value?.name ?? 'the file'} was not opened`);
    return;
  } finally {
    opening.value = null;
    stopper = null;
  }
  if (failures.value.length > 0) showDialog('files');
  else closeDialog();
}

// Closes the connection: the server sees it and stops as well.
export function stopOpening() {
  stopper?.abort();
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
