// Says that a source is only a region of a heat map, and takes that away again.
import type { Source } from '../state/state';
import { formatTime, formatValue } from '../text/format';

export function isRegion(source: Source): boolean {
  return Boolean(source.valueMin || source.valueMax || source.sampleFrom || source.sampleTo);
}

export function withoutRegion(source: Source): Source {
  const { query, from, to, file } = source;
  return { query, from, to, file };
}

function clock(nanoseconds: string): string {
  const milliseconds = Number(nanoseconds) / 1e6;
  return `${formatTime(milliseconds)}.${String(Math.floor(milliseconds % 1000)).padStart(3, '0')}`;
}

export function regionWords(source: Source, unit: string): string {
  const words: string[] = [];
  if (source.valueMin) words.push(`profiles of ${formatValue(Number(source.valueMin), unit)} or more`);
  if (source.valueMax) words.push(`profiles below ${formatValue(Number(source.valueMax), unit)}`);
  if (source.sampleFrom) words.push(`samples from ${clock(source.sampleFrom)}`);
  if (source.sampleTo) words.push(`to ${clock(source.sampleTo)}`);
  return `Only ${words.join(', ').replace(', to ', ' to ')}`;
}

export function RegionChip(props: { source: Source; unit: string; onChange(source: Source): void }) {
  if (!isRegion(props.source)) return null;
  return (
    <button
      type="button"
      title="Show everything in the range again"
      onClick={() => props.onChange(withoutRegion(props.source))}
    >
      {regionWords(props.source, props.unit)} <span aria-hidden="true">×</span>
      <span class="hidden-text">; remove</span>
    </button>
  );
}
