// Says that a source is only a region of a heat map, and takes that away again.
import type { Source } from '../state/state';
import { formatRate, formatTime, formatValue } from '../text/format';

export function isRegion(source: Source): boolean {
  return [source.valueMin, source.valueMax, source.rateMin, source.rateMax, source.sampleFrom, source.sampleTo].some(
    Boolean,
  );
}

export function withoutRegion(source: Source): Source {
  const { query, from, to, file } = source;
  return { query, from, to, file };
}

function clock(nanoseconds: string): string {
  const milliseconds = Number(nanoseconds) / 1e6;
  return `${formatTime(milliseconds)}.${String(Math.floor(milliseconds % 1000)).padStart(3, '0')}`;
}

export function regionWords(source: Source, unit: string, type: string): string {
  const words: string[] = [];
  const rate = (text: string) => formatRate(Number(text), unit, type);
  if (source.valueMin) words.push(`profiles of ${formatValue(Number(source.valueMin), unit)} or more`);
  if (source.valueMax) words.push(`profiles below ${formatValue(Number(source.valueMax), unit)}`);
  if (source.rateMin) words.push(`profiles of ${rate(source.rateMin)} or more`);
  if (source.rateMax) words.push(`${source.rateMin ? '' : 'profiles '}below ${rate(source.rateMax)}`);
  if (source.sampleFrom) words.push(`samples from ${clock(source.sampleFrom)}`);
  if (source.sampleTo) words.push(`to ${clock(source.sampleTo)}`);
  return `Only ${words.join(', ').replace(', to ', ' to ')}`;
}

interface Props {
  source: Source;
  unit: string;
  type: string;
  onChange(source: Source): void;
}

export function RegionChip(props: Props) {
  if (!isRegion(props.source)) return null;
  return (
    <button
      type="button"
      title="Show everything in the range again"
      onClick={() => props.onChange(withoutRegion(props.source))}
    >
      {regionWords(props.source, props.unit, props.type)} <span aria-hidden="true">×</span>
      <span class="hidden-text">; remove</span>
    </button>
  );
}
