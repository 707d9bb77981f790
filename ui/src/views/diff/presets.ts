// What a selection is usually compared with: itself some time ago, or another version.
import { withMatcher } from '../../state/selector';
import type { Source } from '../../state/state';
import { earlierRange, resolveRange } from '../../state/time';

export interface Preset {
  id: string;
  title: string;
  by: number | undefined; // milliseconds earlier; undefined = the length of the range
}

export const presets: readonly Preset[] = [
  { id: 'previous', title: 'Previous window', by: undefined },
  { id: 'hour', title: '1 h ago', by: 3_600_000 },
  { id: 'day', title: '1 day ago', by: 86_400_000 },
  { id: 'week', title: '1 week ago', by: 7 * 86_400_000 },
];

export function presetBaseline(preset: Preset, source: Source, now: number): Source {
  return { ...source, ...earlierRange(source, preset.by, now) };
}

export function versionBaseline(source: Source, label: string, value: string): Source {
  return { ...source, query: withMatcher(source.query, { name: label, operator: '=', value }) };
}

// The preset that the baseline is, or nothing. By time rather than by word: "now-2h" and "now-120m" are one.
export function presetOf(source: Source, baseline: Source, now: number): Preset | undefined {
  if (baseline.query !== source.query || baseline.file !== source.file) return undefined;
  const is = resolveRange(baseline, now);
  return presets.find((preset) => {
    const would = resolveRange(presetBaseline(preset, source, now), now);
    return is.from === would.from && is.to === would.to;
  });
}

// Labels that say which version runs, by how many know them.
const versionLabels = [
  'service_version',
  'service.version',
  'version',
  'app_version',
  'git_ref',
  'image_tag',
  'container_image_tag',
];

export function versionLabel(labels: readonly string[]): string | undefined {
  return versionLabels.find((name) => labels.includes(name));
}
