// One click to the usual baselines: some time ago, or another version where a label says which version runs.
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { sourceParameters } from '../../api/parameters';
import { labelValue, withoutLabel } from '../../state/selector';
import type { Source } from '../../state/state';
import { presetBaseline, presetOf, presets, versionBaseline, versionLabel } from './presets';

function useVersions(source: Source): { label: string; values: string[] } | undefined {
  const labels = useAnswer<{ labels: string[] }>(source.query ? `labels?${sourceParameters(source)}` : null, (signal) =>
    askJson('labels', sourceParameters(source), signal),
  );
  const label = versionLabel(labels.data?.labels ?? []);
  const all = sourceParameters(label ? { ...source, query: withoutLabel(source.query, label) } : source);
  all.set('limit', '50');
  const values = useAnswer<{ values: string[] }>(label ? `values/${label}?${all}` : null, (signal) =>
    askJson(`values/${encodeURIComponent(label ?? '')}`, all, signal),
  );
  return label && values.data ? { label, values: values.data.values } : undefined;
}

interface Props {
  source: Source;
  baseline: Source | null;
  at: number; // what "now" means
  onChoose(baseline: Source): void;
}

export function PresetBar({ source, baseline, at, onChoose }: Props) {
  const versions = useVersions(source);
  const current = baseline ? presetOf(source, baseline, at) : undefined;
  const own = versions ? labelValue(source.query, versions.label) : '';
  const others = versions?.values.filter((value) => value !== own) ?? [];
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
      {versions && others.length > 0 && (
        <select
          aria-label={`Another ${versions.label}`}
          value={otherNow}
          onChange={(event) => {
            if (event.currentTarget.value) onChoose(versionBaseline(source, versions.label, event.currentTarget.value));
          }}
        >
          <option value="">Another {versions.label} …</option>
          {others.map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      )}
    </fieldset>
  );
}
