// Two panes with a bar between them that can be dragged, or moved with the arrow keys. Where it stands stays in this
// browser.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { browserStorage } from '../state/storage';
import './split.css';

interface Props {
  name: string; // under which its place is remembered
  label: string;
  first: ComponentChildren;
  second: ComponentChildren;
}

const least = 0.2;
const clamp = (share: number) => Math.min(1 - least, Math.max(least, share));

export function Split({ name, label, first, second }: Props) {
  const key = `vesta-split-${name}`;
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => clamp(Number(browserStorage('localStorage')?.getItem(key)) || 0.55));
  const move = (next: number) => {
    setShare(clamp(next));
    browserStorage('localStorage')?.setItem(key, String(clamp(next)));
  };
  return (
    <div ref={box} class="split" style={{ '--split': `${share * 100}%` }}>
      <div class="split-pane split-first">{first}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved */}
      <div
        class="split-bar"
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={least * 100}
        aria-valuemax={(1 - least) * 100}
        tabIndex={0}
        onKeyDown={(event) => {
          const steps: Record<string, number> = { ArrowLeft: -0.03, ArrowRight: 0.03 };
          if (event.key in steps) move(share + steps[event.key]);
          else if (event.key === 'Home') move(0);
          else if (event.key === 'End') move(1);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
        onPointerDown={(event) => {
          event.preventDefault();
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
          const { left, width } = box.current!.getBoundingClientRect();
          move((event.clientX - left) / width);
        }}
        onDblClick={() => move(0.55)}
      />
      <div class="split-pane split-second">{second}</div>
    </div>
  );
}
