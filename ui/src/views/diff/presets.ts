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
  first: number; // Unix milliseconds of its oldest profile
  last: number; // and its newest
}
export interface Versions {
  label: string;
  list: Version[]; // newest first
}

// "2.10" is after "2.9".
const natural = new Intl.Collator('en', { numeric: true });

// The label that says which version runs, and its values: newest is what was seen first most lately.
export function versionsIn(series: readonly Series[]): Versions | undefined {
  const label = versionLabels.find((name) => series.some(({ labels }) => labels[name]));
  if (!label) return undefined;
  const found = new Map<string, Version>();
  for (const { labels, first_ns, last_ns } of series) {
    const value = labels[label];
    if (!value) continue;
    const known = found.get(value) ?? { value, first: Number.POSITIVE_INFINITY, last: 0 };
    known.first = Math.min(known.first, first_ns / 1e6);
    known.last = Math.max(known.last, last_ns / 1e6);
    found.set(value, known);
  }
  // What was rolled out within a minute is told apart by its number.
  const minute = (time: number) => Math.floor(time / 60_000);
  const list = [...found.values()].sort(
    (a, b) => minute(b.first) - minute(a.first) || natural.compare(b.value, a.value),
  );
  return { label, list };
}

export interface VersionPair {
  newer: Version;
  older: Version;
}

// What can be compared: the version that is looked at with each other one, else each with the one before. The newer one
// is always the selection, so that "more" means more than before.
export function versionPairs({ label, list }: Versions, query: string): VersionPair[] {
  const own = list.findIndex(({ value }) => value === labelValue(query, label));
  if (own < 0) return list.slice(0, -1).map((newer, at) => ({ newer, older: list[at + 1] }));
  return list.flatMap((other, at) =>
    at === own ? [] : [at < own ? { newer: other, older: list[own] } : { newer: list[own], older: other }],
  );
}

// Both sides of the comparison: each has one version, so that neither counts the other's profiles.
export function versionSides(source: Source, label: string, { newer, older }: VersionPair, now: number) {
  return { source: versionSource(source, label, newer, now), baseline: versionSource(source, label, older, now) };
}

// One version over the same time; or, when it does not run any more, over as long a time up to its end.
function versionSource(source: Source, label: string, version: Version, now: number): Source {
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
