// A button with a box of controls below it: closes with Esc, with a click elsewhere, and when the focus leaves.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import './popover.css';

interface Props {
  label: string; // what the button says
  description?: string; // for screen readers, when the label alone says too little
  open: boolean;
  onToggle(open: boolean): void;
  children: ComponentChildren;
  class?: string;
}

export function Popover({ label, description, open, onToggle, children, class: className = '' }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [right, setRight] = useState(false);

  useLayoutEffect(() => {
    if (!open) return;
    // Opens to the left where it would leave the window.
    const width = box.current!.querySelector<HTMLElement>('.popover-box')!.offsetWidth;
    setRight(button.current!.getBoundingClientRect().left + width > document.documentElement.clientWidth - 8);
    const inside = (selector: string) => box.current!.querySelector<HTMLElement>(`.popover-box ${selector}`);
    (inside('[aria-pressed=true]') ?? inside(':is(button, input, select)'))?.focus();
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) onToggle(false);
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [open]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes from anywhere inside
    <div
      ref={box}
      class={`popover ${className}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.preventDefault();
        event.stopPropagation();
        onToggle(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        class="popover-button"
        aria-expanded={open}
        aria-controls={id}
        aria-label={description}
        onClick={() => onToggle(!open)}
      >
        {label}
        <span class="popover-arrow" aria-hidden="true" />
      </button>
      <div id={id} class={right ? 'popover-box right' : 'popover-box'} hidden={!open}>
        {open && children}
      </div>
    </div>
  );
}
