// Which rows of a long list are in the document, and where a key takes the cursor.
export interface Window {
  first: number;
  end: number; // not included
}

// A few rows more than one sees, in steps, so that scrolling by a pixel changes nothing.
const step = 8;

export function visibleWindow(scrollTop: number, height: number, rowHeight: number, count: number): Window {
  const seen = Math.max(0, Math.floor(scrollTop / rowHeight));
  const first = Math.max(0, Math.floor(seen / step) * step - step);
  const end = Math.min(count, Math.ceil((seen + Math.ceil(height / rowHeight)) / step) * step + step);
  return { first: Math.min(first, end), end };
}

// Undefined for keys that do not move.
export function movedCursor(key: string, cursor: number, count: number, page: number): number | undefined {
  if (count === 0) return undefined;
  const to = {
    ArrowDown: cursor + 1,
    ArrowUp: cursor < 0 ? 0 : cursor - 1,
    PageDown: cursor + page,
    PageUp: cursor - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}

// Where to scroll so that the row is seen below the heading; undefined when it is.
export function scrollToRow(
  row: number,
  scrollTop: number,
  height: number, // of the rows' part, without the heading
  rowHeight: number,
): number | undefined {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return undefined;
}
