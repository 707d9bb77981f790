import { describe, expect, it } from 'vitest';
import type { Source } from '../../state/state';
import { resolveRange } from '../../state/time';
import { presetBaseline, presetOf, presets, versionBaseline, versionLabel } from './presets';

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
  it('compare versions over the same time', () => {
    const other = versionBaseline({ ...source, query: 'cpu{service_name="a", version="2"}' }, 'version', '1');
    expect(other).toEqual({ ...source, query: 'cpu{service_name="a", version="1"}' });
    expect(versionLabel(['pod', 'version', 'service_version'])).toBe('service_version');
    expect(versionLabel(['pod'])).toBeUndefined();
  });
});
