// Long lists: only the rows that can be seen are in the page. The page itself scrolls, so that the wheel, the keys and
// find-in-page behave as everywhere.
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Window {
  first: number;
  end: number; // after the last
}

// Rows between the pixels `top` and `bottom` of the list, with some more on either side for quick scrolling.
export function visibleRows(count: number, rowHeight: number, top: number, bottom: number, more = 12): Window {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - more));
  const end = Math.max(first, Math.min(count, Math.ceil(bottom / rowHeight) + more));
  return { first, end };
}

export function useWindowed(count: number, rowHeight: number) {
  const element = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Window>({ first: 0, end: Math.min(count, 60) });
  useEffect(() => {
    const look = () => {
      if (!element.current) return;
      const { top } = element.current.getBoundingClientRect();
      const next = visibleRows(count, rowHeight, -top, window.innerHeight - top);
      setShown((before) => (before.first === next.first && before.end === next.end ? before : next));
    };
    look();
    window.addEventListener('scroll', look, { passive: true });
    window.addEventListener('resize', look);
    return () => {
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, [count, rowHeight]);
  return { element, shown };
}
