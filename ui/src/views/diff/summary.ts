// What a comparison says in all, in sentences; and what makes it doubtful. A profile shows where time went, not how fast
// anything was: hence "takes more time", never "slower".
import type { Diff, DiffRow, Warning } from '../../api/types';
import { formatCount, formatRelative } from '../../text/format';
import { measureOf } from '../../text/measure';

type Header = Pick<
  Diff,
  'type' | 'unit' | 'total_before' | 'total_after' | 'samples_before' | 'samples_after' | 'baseline' | 'warnings'
>;

const verbs: Record<string, [verb: string, noun: string]> = {
  nanoseconds: ['takes', 'time'],
  bytes: ['has', 'memory'],
};

// `of` is what was made equal before: "per instance".
export function changeSentence(
  diff: Pick<Header, 'type' | 'unit'>,
  before: number,
  after: number,
  of: string = '',
): string {
  const { unit } = diff;
  const [verb, noun] = verbs[unit] ?? ['has', diff.type || 'weight'];
  const what = of ? `${noun} ${of}` : noun;
  if (before === 0 && after === 0) return 'Both sides are empty.';
  if (before === 0) return 'The baseline is empty: everything is new.';
  if (after === 0) return 'The selection is empty: everything of the baseline is gone.';
  const relative = formatRelative(before, after);
  if (relative === '±0 %') return `The selection ${verb} as much ${what} as the baseline.`;
  return `The selection ${verb} ${relative.replace(/^[+−]/, '')} ${after > before ? 'more' : 'less'} ${what} than the baseline.`;
}

const mostNamed = 3;

// With `named`, the largest of them follow.
export function significanceSentence(significant: number | undefined, diff: Header, named = false): string {
  if (!diff.samples_before || !diff.samples_after || significant === undefined) {
    return 'Significance is unknown: these profiles do not say how many samples they have.';
  }
  if (significant === 0) return 'No function changed significantly (q < 0.05).';
  const functions = significant === 1 ? '1 function' : `${formatCount(significant)} functions`;
  const end = !named ? '.' : significant > 1 ? '; the largest:' : ':';
  return `${functions} changed significantly (q < 0.05)${end}`;
}

export interface LargestChange {
  row: DiffRow;
  text: string; // "+0.12 cores (new)"
}

// Of rows that are significant and in order of their change; those whose own weight is the same have only changed below.
export function largestChanges(diff: Diff): LargestChange[] {
  if (!diff.samples_before || !diff.samples_after) return [];
  const measure = measureOf(diff);
  return diff.rows
    .filter((row) => row.significant && row.flat_delta !== 0)
    .slice(0, mostNamed)
    .map((row) => ({
      row,
      text: `${measure.change(row.flat_delta)} (${formatRelative(row.flat_before, row.flat_after)})`,
    }));
}

// Those of the server, of both sides, and what only shows here.
export function warningsOf(diff: Header): Warning[] {
  const found = [...(diff.warnings ?? []), ...(diff.baseline.warnings ?? [])];
  if (diff.unit !== diff.baseline.unit) {
    const units = `${diff.baseline.unit} and ${diff.unit}`;
    found.push({
      code: 'units_differ',
      text: `The sides have different units (${units}): their values cannot be compared.`,
    });
  }
  return found.filter(({ text }, at) => found.findIndex((other) => other.text === text) === at);
}
