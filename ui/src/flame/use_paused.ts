// A text that is being typed, once typing has paused.
import { useEffect, useState } from 'preact/hooks';

const pause = 250; // ms

export function usePaused(value: string, wait: boolean): string {
  const [paused, setPaused] = useState(value);
  useEffect(() => {
    if (!wait) {
      setPaused(value);
      return;
    }
    const timer = setTimeout(() => setPaused(value), pause);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return paused;
}
