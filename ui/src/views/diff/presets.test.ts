import { describe, expect, it } from 'vitest';
import type { Source } from '../../state/state';
import { resolveRange } from '../../state/time';
import { presetBaseline, presetOf, presets, type Series, versionPairs, versionSides, versionsIn } from './presets';

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
  const ago = (minutes: number) => (now - minutes * 60_000) * 1e6;
  const series: Series[] = [
    { labels: { version: '1.9', pod: 'a' }, first_ns: ago(900), last_ns: ago(300) },
    { labels: { version: '2.5.0', pod: 'a' }, first_ns: ago(35), last_ns: ago(0) },
    { labels: { version: '2.4.0', pod: 'a' }, first_ns: ago(240), last_ns: ago(36) },
    { labels: { version: '2.4.0', pod: 'b' }, first_ns: ago(300), last_ns: ago(35) },
  ];
  const versions = versionsIn(series)!;
  const words = (query: string) => versionPairs(versions, query).map(({ newer, older }) => [newer.value, older.value]);

  it('are those of the label that says it, newest first', () => {
    expect(versions.label).toBe('version');
    expect(versions.list.map(({ value }) => value)).toEqual(['2.5.0', '2.4.0', '1.9']);
    expect(versions.list[1]).toEqual({ value: '2.4.0', first: now - 300 * 60_000, last: now - 35 * 60_000 });
    expect(versionsIn([{ labels: { pod: 'a' }, first_ns: 0, last_ns: 0 }])).toBeUndefined();
  });
  it('that came at once are in the order of their numbers', () => {
    const at = { first_ns: ago(60), last_ns: ago(0) };
    const both = ['v2.9', 'v2.10', 'v2.1'].map((version) => ({ labels: { version }, ...at }));
    expect(versionsIn(both)!.list.map(({ value }) => value)).toEqual(['v2.10', 'v2.9', 'v2.1']);
  });
  it('are compared with the one before, whatever the selector leaves open', () => {
    expect(words('cpu{service_name="a"}')).toEqual([
      ['2.5.0', '2.4.0'],
      ['2.4.0', '1.9'],
    ]);
    expect(words('cpu{version=~"2.*"}')[0]).toEqual(['2.5.0', '2.4.0']);
  });
  it('of a selector are compared with each other one, the newer as the selection', () => {
    expect(words('cpu{version="2.4.0"}')).toEqual([
      ['2.5.0', '2.4.0'],
      ['2.4.0', '1.9'],
    ]);
    expect(words('cpu{version="1.9"}')).toEqual([
      ['2.5.0', '1.9'],
      ['2.4.0', '1.9'],
    ]);
  });
  it('set both sides: the selection has nothing of the baseline, and more is not less', () => {
    const open = { ...source, from: 'now-1h', query: 'cpu{service_name="a", version!="x"}' };
    const [pair] = versionPairs(versions, open.query);
    const sides = versionSides(open, 'version', pair, now);
    expect(sides.source).toEqual({ ...open, query: 'cpu{service_name="a", version="2.5.0"}' });
    expect(sides.baseline.query).toBe('cpu{service_name="a", version="2.4.0"}');
    // Gone for more than half of the range: as long a time, up to its end.
    const { from, to } = resolveRange(sides.baseline, now);
    expect(to).toBe(now - 35 * 60_000 + 1000);
    expect(to - from).toBe(60 * 60_000);
  });
  it('that run are compared over the same time', () => {
    const wide = { ...source, from: 'now-4h' };
    const sides = versionSides(wide, 'version', versionPairs(versions, wide.query)[0], now);
    expect([sides.source, sides.baseline].map(({ from, to }) => [from, to])).toEqual([
      ['now-4h', 'now'],
      ['now-4h', 'now'],
    ]);
  });
});
