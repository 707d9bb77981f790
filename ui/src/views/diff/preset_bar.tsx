// One click to the usual baselines: some time ago, or another version where a label says which version runs.
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { labelValue } from '../../state/selector';
import type { Source } from '../../state/state';
import { resolveRange } from '../../state/time';
import { formatAgo } from '../../text/format';
import { visibleText } from '../../text/safe';
import {
  presetBaseline,
  presetOf,
  presets,
  type Series,
  versionPairs,
  versionSides,
  versionsIn,
  withoutVersion,
} from './presets';

const lookBack = 14 * 86_400_000;

// Versions of the last two weeks: what one compares with is mostly not running any more.
function useVersions(source: Source, at: number) {
  const { from } = resolveRange(source, at);
  const parameters = new URLSearchParams({ query: withoutVersion(source.query), limit: '1000' });
  // To the hour, so that it is not asked again with each rendering.
  parameters.set('from', String(Math.floor((from - lookBack) / 3_600_000) * 3_600_000));
  parameters.set('to', source.to);
  const answer = useAnswer<{ series: Series[] }>(
    source.query && !source.file ? `series?${parameters}` : null,
    (signal) => askJson('series', parameters, signal),
  );
  return versionsIn(answer.data?.series ?? []);
}

export interface OpenedFile {
  id: string;
  name: string;
}

// Asked for only where files are compared; the store's own comparisons need no list.
export function useFiles(isWanted: boolean): OpenedFile[] {
  const answer = useAnswer<{ files: OpenedFile[] }>(isWanted ? 'files' : null, (signal) =>
    askJson('files', new URLSearchParams(), signal),
  );
  return answer.data?.files ?? [];
}

interface Props {
  source: Source;
  baseline: Source | null;
  at: number; // what "now" means
  files: readonly OpenedFile[];
  onChoose(baseline: Source, source?: Source): void;
}

export function PresetBar({ source, baseline, at: now, files, onChoose }: Props) {
  const versions = useVersions(source, now);
  const current = baseline ? presetOf(source, baseline, now) : undefined;
  const pairs = versions ? versionPairs(versions, source.query) : [];
  const shown = pairs.findIndex(({ newer, older }) => {
    const { label } = versions!;
    return labelValue(source.query, label) === newer.value && labelValue(baseline?.query ?? '', label) === older.value;
  });
  return (
    <fieldset class="diff-presets">
      <legend>Compare with</legend>
      {!source.file &&
        presets.map((preset) => (
          <button
            key={preset.id}
            type="button"
            aria-pressed={current?.id === preset.id}
            onClick={() => onChoose(presetBaseline(preset, source, Date.now()))}
          >
            {preset.title}
          </button>
        ))}
      {files.length > 0 && (
        <select
          aria-label="An opened file"
          value={baseline?.file ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value) onChoose({ ...source, file: value });
          }}
        >
          <option value="">An opened file …</option>
          {files.map(({ id, name }) => (
            <option key={id} value={id}>
              {visibleText(name)}
            </option>
          ))}
        </select>
      )}
      {versions && pairs.length > 0 && (
        <select
          aria-label={`Another ${versions.label}`}
          title="Sets both sides: the newer one is the selection"
          value={shown}
          onChange={(event) => {
            const pair = pairs[Number(event.currentTarget.value)];
            if (!pair) return;
            const sides = versionSides(source, versions.label, pair, Date.now());
            onChoose(sides.baseline, sides.source);
          }}
        >
          <option value={-1}>Another {versions.label} …</option>
          {pairs.map(({ newer, older }, at) => (
            <option key={`${newer.value} ${older.value}`} value={at}>
              {visibleText(newer.value)} against {visibleText(older.value)} · from {formatAgo(newer.first, now)}
            </option>
          ))}
        </select>
      )}
    </fieldset>
  );
}
