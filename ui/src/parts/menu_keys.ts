// Moving in a menu by keyboard: which entry comes next. Disabled entries are passed over.
export interface Entry {
  title: string;
  disabled?: boolean;
}

export function step(entries: readonly Entry[], from: number, by: 1 | -1): number {
  for (let i = 1; i <= entries.length; ++i) {
    const at = (((from + by * i) % entries.length) + entries.length) % entries.length;
    if (!entries[at].disabled) return at;
  }
  return -1;
}

export const first = (entries: readonly Entry[]) => step(entries, -1, 1);
export const last = (entries: readonly Entry[]) => step(entries, entries.length, -1);

// The next entry that starts with what was typed; one letter again and again walks through those that start with it.
export function typeAhead(entries: readonly Entry[], from: number, typed: string): number {
  const wanted = typed.toLowerCase();
  const repeated = [...wanted].every((letter) => letter === wanted[0]);
  const start = repeated ? from + 1 : Math.max(from, 0);
  const prefix = repeated ? wanted[0] : wanted;
  for (let i = 0; i < entries.length; ++i) {
    const at = (start + i) % entries.length;
    if (!entries[at].disabled && entries[at].title.toLowerCase().startsWith(prefix)) return at;
  }
  return -1;
}

// Where a box of that size goes so that all of it is in the window.
export function place(x: number, y: number, width: number, height: number, windowWidth: number, windowHeight: number) {
  const margin = 6;
  return {
    left: Math.max(margin, Math.min(x, windowWidth - width - margin)),
    top: Math.max(margin, Math.min(y, windowHeight - height - margin)),
  };
}
