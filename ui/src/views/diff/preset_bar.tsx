// One click to the usual baselines: some time ago, or another version where a label says which version runs.
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { labelValue } from '../../state/selector';
import type { Source } from '../../state/state';
import { resolveRange } from '../../state/time';
import { formatAgo } from '../../text/format';
import { labelText } from '../../text/names';
import { visibleText } from '../../text/safe';
import { presetBaseline, presetOf, presets, type Series, versionBaseline, versionsIn, withoutVersion } from './presets';

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
  return versionsIn(answer.data?.series ?? [], source.query);
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
  onChoose(baseline: Source): void;
}

export function PresetBar({ source, baseline, at, files, onChoose }: Props) {
  const versions = useVersions(source, at);
  const current = baseline ? presetOf(source, baseline, at) : undefined;
  const others = versions?.others ?? [];
  const otherNow = versions && baseline && !current ? labelValue(baseline.query, versions.label) : '';
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
      {versions && others.length > 0 && (
        <select
          aria-label={`Another ${versions.label}`}
          value={otherNow}
          onChange={(event) => {
            const version = others.find(({ value }) => value === event.currentTarget.value);
            if (version) onChoose(versionBaseline(source, versions.label, version, Date.now()));
          }}
        >
          <option value="">Another {versions.label} …</option>
          {others.map(({ value, last }) => (
            <option key={value} value={value}>
              {labelText(value)} · {formatAgo(last, at)}
            </option>
          ))}
        </select>
      )}
    </fieldset>
  );
}
