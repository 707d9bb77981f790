// Columns of a table, and which of them fit. Those of least use go first when the table is narrow; what they say is in
// the details of the row.
import type { ComponentChildren } from 'preact';

export interface Column {
  id: string;
  title: string;
  hint?: string; // the title in more words
  width: number; // pixels; the least when it grows
  grow?: boolean;
  end?: boolean; // numbers: aligned at the end
  spare?: number; // goes when there is no room, the highest first; absent = stays
  sortable?: boolean;
  descendingFirst?: boolean;
  cell(row: number): ComponentChildren;
}

type Sized = Pick<Column, 'width' | 'grow' | 'spare'>;

export function widthOf(columns: readonly Sized[]): number {
  return columns.reduce((sum, column) => sum + column.width, 0);
}

export function fittingColumns<T extends Sized>(columns: readonly T[], width: number): T[] {
  const kept = [...columns];
  while (widthOf(kept) > width) {
    let worst = -1;
    for (let i = 0; i < kept.length; ++i) {
      if (kept[i].spare !== undefined && (worst < 0 || kept[i].spare! >= kept[worst].spare!)) worst = i;
    }
    if (worst < 0) break;
    kept.splice(worst, 1);
  }
  return kept;
}

export function templateOf(columns: readonly Sized[]): string {
  return columns.map(({ width, grow }) => (grow ? `minmax(${width}px, 1fr)` : `${width}px`)).join(' ');
}
