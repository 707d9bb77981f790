// The frame's dialogs, loaded when they are first wanted: most visits need none.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { refused } from '../api/client';
import { closeDialog, type DialogName, openDialog, showDialog } from '../parts/dialogs';
import { toast } from '../parts/toast';

type DialogComponent = ComponentType<{ onClose(): void }>;

const loaders: Record<DialogName, () => Promise<{ default: DialogComponent }>> = {
  palette: () => import('../parts/commands/palette'),
  help: () => import('../parts/commands/help'),
  token: () => import('./token_dialog'),
  files: () => import('../views/files/file_dialog'),
};
const loaded = new Map<DialogName, DialogComponent>();

export function DialogHost() {
  const [, setCount] = useState(0);
  const name = openDialog.value;
  const wanted = refused.value;
  useEffect(() => {
    if (wanted === 'token') showDialog('token');
  }, [wanted]);
  useEffect(() => {
    if (!name || loaded.has(name)) return;
    loaders[name]().then(
      (module) => {
        loaded.set(name, module.default);
        setCount((count) => count + 1);
      },
      () => {
        closeDialog();
        toast('The server is not responding.', true);
      },
    );
  }, [name]);
  const Current = name && loaded.get(name);
  return Current ? <Current key={name} onClose={closeDialog} /> : null;
}
