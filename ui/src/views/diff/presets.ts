// What a selection is usually compared with: itself some time ago, or another version.
import { labelValue, withMatcher, withoutLabel } from '../../state/selector';
import type { Source } from '../../state/state';
import { absolute, earlierRange, resolveRange } from '../../state/time';

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

export interface Series {
  labels: Record<string, string>;
  first_ns: number;
  last_ns: number;
}
export interface Version {
  value: string;
  last: number; // Unix milliseconds of its newest profile
}

// The label that says which version runs, and its values but the one that is looked at; newest first.
export function versionsIn(series: readonly Series[], query: string): { label: string; others: Version[] } | undefined {
  const label = versionLabels.find((name) => series.some(({ labels }) => labels[name]));
  if (!label) return undefined;
  const last = new Map<string, number>();
  for (const { labels, last_ns } of series) {
    const value = labels[label];
    if (value) last.set(value, Math.max(last.get(value) ?? 0, last_ns / 1e6));
  }
  const own = labelValue(query, label);
  const others = [...last].map(([value, time]) => ({ value, last: time })).filter(({ value }) => value !== own);
  return { label, others: others.sort((a, b) => b.last - a.last) };
}

// Another version over the same time; or, when it does not run any more, over as long a time up to its end.
export function versionBaseline(source: Source, label: string, version: Version, now: number): Source {
  const query = withMatcher(source.query, { name: label, operator: '=', value: version.value });
  const { from, to } = resolveRange(source, now);
  if (version.last >= from + (to - from) / 2) return { ...source, query };
  const end = version.last + 1000;
  return { ...source, query, ...absolute({ from: end - (to - from), to: end }) };
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

export function withoutVersion(query: string): string {
  return versionLabels.reduce((text, name) => (labelValue(text, name) ? withoutLabel(text, name) : text), query);
}
