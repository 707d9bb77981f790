// What a comparison says in all, in sentences; and what makes it doubtful. A profile shows where time went, not how fast
// anything was: hence "takes more time", never "slower".
import type { Diff } from '../../api/types';
import type { Scale } from '../../state/state';
import { formatCount, formatRelative, formatValue } from '../../text/format';

type Header = Pick<
  Diff,
  | 'type'
  | 'unit'
  | 'total'
  | 'total_before'
  | 'total_after'
  | 'samples_before'
  | 'samples_after'
  | 'from_ns'
  | 'to_ns'
  | 'baseline'
>;

const verbs: Record<string, [verb: string, noun: string]> = {
  nanoseconds: ['takes', 'time'],
  bytes: ['has', 'memory'],
};

// What the sides have in all. Compared by share, the totals of the answer are scaled to be equal; the sides' own are not.
export function sideTotals(diff: Header, scale: Scale): { before: number; after: number } {
  if (scale === 'normalized') return { before: diff.baseline.total, after: diff.total };
  return { before: diff.total_before, after: diff.total_after };
}

export function changeSentence(diff: Pick<Header, 'type' | 'unit'>, before: number, after: number): string {
  const { unit } = diff;
  const [verb, noun] = verbs[unit] ?? ['has', diff.type || 'weight'];
  if (before === 0 && after === 0) return 'Both sides are empty.';
  if (before === 0) return 'The baseline is empty: everything is new.';
  if (after === 0) return 'The selection is empty: everything of the baseline is gone.';
  const relative = formatRelative(before, after);
  if (relative === '±0 %') return `The selection ${verb} as much ${noun} as the baseline.`;
  return `The selection ${verb} ${relative.replace(/^[+−]/, '')} ${after > before ? 'more' : 'less'} ${noun} than the baseline.`;
}

export function significanceSentence(significant: number | undefined, diff: Header): string {
  if (!diff.samples_before || !diff.samples_after || significant === undefined) {
    return 'Whether single changes are more than chance cannot be told: the number of samples is not known.';
  }
  if (significant === 0) return 'No function changed by more than chance would explain (q < 0.05).';
  const functions = significant === 1 ? '1 function' : `${formatCount(significant)} functions`;
  return `${functions} changed by more than chance would explain (q < 0.05).`;
}

const fewSamples = 200;
const unlike = 1.5; // lengths that differ by more

export function warnings(diff: Header, scale: Scale): string[] {
  const found: string[] = [];
  if (diff.unit !== diff.baseline.unit) {
    found.push(
      `The sides have different units (${diff.baseline.unit} and ${diff.unit}): their values cannot be compared.`,
    );
  }
  const lengths = [diff.baseline.to_ns - diff.baseline.from_ns, diff.to_ns - diff.from_ns];
  const [short, long] = [Math.min(...lengths), Math.max(...lengths)];
  if (scale === 'absolute' && short > 0 && long / short > unlike) {
    const [before, after] = lengths.map((length) => formatValue(length, 'nanoseconds'));
    found.push(`The ranges differ in length (${before} and ${after}): compare by share to see what changed.`);
  }
  const sides: [string, number | undefined][] = [
    ['baseline', diff.samples_before],
    ['selection', diff.samples_after],
  ];
  for (const [side, samples] of sides) {
    if (samples && samples < fewSamples) {
      found.push(`The ${side} has only ${formatCount(Math.round(samples))} samples: small changes may be chance.`);
    }
  }
  return found;
}
