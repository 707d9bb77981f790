// What the colours mean. A click keeps the colour of one entry only, with Alt it hides what the entry stands for.

import type { Coloring, LegendEntry } from '../engine/coloring';
import { wholeOf } from '../engine/info';
import { binaryPattern, exactPattern } from '../parts/frame_menu';
import { showMenu } from '../parts/menu';
import type { Step } from '../state/state';
import { addStep, go, state } from '../state/store';
import { formatCount, formatShare } from '../text/format';
import { escapeExpression } from '../text/match';
import { clippedText, visibleText } from '../text/safe';
import { currentPalette, type Seen, useForcedColors } from './look';

// The step that hides an entry; undefined where the server knows no such thing.
export function hideStep(by: Coloring['by'], key: string): Step | undefined {
  if (key === '(none)') return undefined;
  switch (by) {
    case 'binary':
      return { kind: 'hide', pattern: binaryPattern(key) };
    case 'file':
      return { kind: 'hide', pattern: exactPattern(key) };
    case 'package': {
      // Go's packages have slashes in them, and others below them that are not meant.
      const end = key.includes('/') ? '\\.' : '(::|[./])';
      const start = escapeExpression(key).replace(/\\\./g, '[./]');
      return { kind: 'hide', pattern: `(^|[ <&*(])${start}${end}` };
    }
    case 'kind':
      return key === 'kernel' ? { kind: 'hide', pattern: '^\\[kernel|/vmlinux|\\.ko$' } : undefined;
    default:
      return undefined;
  }
}

export function Legend({ seen }: { seen: Seen }) {
  const { isolate } = state.value;
  const forced = useForcedColors();
  const palette = currentPalette(forced);
  const { coloring, graph } = seen;
  const compare = graph.tree.before !== null;
  const whole = wholeOf(graph);
  const choose = (entry: LegendEntry, event: MouseEvent) => {
    const hide = compare ? undefined : hideStep(coloring.by, entry.key);
    if (event.altKey && hide) addStep(hide);
    else go({ isolate: isolate === entry.key ? '' : entry.key });
  };
  // The same for those without an Alt key at hand, and by keyboard.
  const offer = (entry: LegendEntry, event: MouseEvent) => {
    event.preventDefault();
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const hide = compare ? undefined : hideStep(coloring.by, entry.key);
    showMenu({
      x: box.left,
      y: box.bottom,
      label: clippedText(entry.title, 60),
      groups: [
        {
          items: [
            {
              title: isolate === entry.key ? 'All colours' : 'Only this colour',
              run: () => go({ isolate: isolate === entry.key ? '' : entry.key }),
            },
            { title: 'Hide these frames', disabled: !hide, run: () => hide && addStep(hide) },
          ],
        },
      ],
    });
  };
  const entries = coloring.legend.filter((entry) => compare || entry.weight > 0);
  return (
    <ul class="flame-legend" aria-label="Legend">
      {entries.map((entry) => (
        <li key={entry.key}>
          <button
            type="button"
            aria-pressed={isolate === entry.key}
            title={
              compare
                ? visibleText(`${entry.title}: click to keep only this colour`)
                : visibleText(`${entry.title}: click to keep only this colour, Alt-click to hide`)
            }
            onClick={(event) => choose(entry, event)}
            onContextMenu={(event) => offer(entry, event)}
          >
            <span
              class={entry.hatched ? 'flame-swatch flame-swatch-new' : 'flame-swatch'}
              style={{ backgroundColor: palette.fills[entry.bucket] }}
            />
            <span class="flame-legend-name">{clippedText(entry.title, 32)}</span>
            {entry.weight > 0 && <span class="muted">{formatShare(entry.weight, whole)}</span>}
          </button>
        </li>
      ))}
      {coloring.rest > 0 && <li class="muted flame-legend-rest">and {formatCount(coloring.rest)} more</li>}
    </ul>
  );
}
