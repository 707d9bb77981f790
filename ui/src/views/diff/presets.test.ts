import { describe, expect, it } from 'vitest';
import type { Source } from '../../state/state';
import { resolveRange } from '../../state/time';
import { presetBaseline, presetOf, presets, type Series, versionBaseline, versionsIn } from './presets';

const now = Date.UTC(2026, 10, 15, 12);
const source: Source = { query: 'cpu{service_name="a"}', from: 'now-30m', to: 'now', file: '' };

describe('presets of a comparison', () => {
  it('keep the length of the range and what is looked at', () => {
    for (const preset of presets) {
      const baseline = presetBaseline(preset, source, now);
      const { from, to } = resolveRange(baseline, now);
      expect(to - from, preset.id).toBe(30 * 60_000);
      expect(baseline.query).toBe(source.query);
      expect(baseline.from).toMatch(/^now-/);
    }
  });
  it('are recognised, and nothing else is', () => {
    for (const preset of presets)
      expect(presetOf(source, presetBaseline(preset, source, now), now)?.id).toBe(preset.id);
    expect(presetOf(source, { ...source, from: 'now-3h', to: 'now-2h' }, now)).toBeUndefined();
    expect(presetOf(source, { ...presetBaseline(presets[0], source, now), query: 'cpu{}' }, now)).toBeUndefined();
  });
  it('of an absolute range stay absolute', () => {
    const fixed = { ...source, from: String(now - 7_200_000), to: String(now - 3_600_000) };
    expect(presetBaseline(presets[0], fixed, now)).toMatchObject({ from: String(now - 10_800_000), to: fixed.from });
  });
});

describe('versions', () => {
  const series: Series[] = [
    { labels: { version: '1.9', pod: 'a' }, first_ns: 0, last_ns: (now - 5 * 3_600_000) * 1e6 },
    { labels: { version: '2.0', pod: 'a' }, first_ns: 0, last_ns: (now - 60_000) * 1e6 },
    { labels: { version: '2.0', pod: 'b' }, first_ns: 0, last_ns: (now - 90_000) * 1e6 },
    { labels: { version: '2.1' }, first_ns: 0, last_ns: now * 1e6 },
  ];
  it('are those of the label that says it, newest first, without the own', () => {
    expect(versionsIn(series, 'cpu{version="2.1"}')).toEqual({
      label: 'version',
      others: [
        { value: '2.0', last: now - 60_000 },
        { value: '1.9', last: now - 5 * 3_600_000 },
      ],
    });
    expect(versionsIn([{ labels: { pod: 'a' }, first_ns: 0, last_ns: 0 }], 'cpu{}')).toBeUndefined();
  });
  it('that run are compared over the same time', () => {
    const other = versionBaseline(source, 'version', { value: '2.0', last: now - 60_000 }, now);
    expect(other).toEqual({ ...source, query: 'cpu{service_name="a", version="2.0"}' });
  });
  it('that are gone are compared up to their end', () => {
    const other = versionBaseline(source, 'version', { value: '1.9', last: now - 5 * 3_600_000 }, now);
    const { from, to } = resolveRange(other, now);
    expect(to).toBe(now - 5 * 3_600_000 + 1000);
    expect(to - from).toBe(30 * 60_000);
  });
});
