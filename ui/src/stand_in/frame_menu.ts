// Until parts/frame_menu.ts is here.
import type { FrameName } from '../api/types';
import { showMenu } from '../parts/menu';
import { addStep, go } from '../state/store';
import { escapeExpression } from '../text/match';

export function showFrameMenu(at: { x: number; y: number }, frame: FrameName) {
  const pattern = `^${escapeExpression(frame.name)}$`;
  showMenu({
    ...at,
    label: frame.name,
    groups: [
      {
        items: [
          { title: 'Callers and callees', run: () => go({ sandwich: frame.name, pane: 'flame' }) },
          { title: 'Only stacks with this', run: () => addStep({ kind: 'focus', pattern }) },
          { title: 'Hide this', run: () => addStep({ kind: 'hide', pattern }) },
          { title: 'Copy name', run: () => navigator.clipboard.writeText(frame.name) },
        ],
      },
    ],
  });
}
