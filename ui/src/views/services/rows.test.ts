import { describe, expect, it } from 'vitest';
import {
  changeOf,
  filterRows,
  fleetOf,
  isRough,
  nextSort,
  type ServiceRow,
  sortRows,
  typesOf,
  uncountedTypes,
  waitingBaselines,
} from './rows';

function row(service_name: string, name: string, rate: number, previous: number | null = rate): ServiceRow {
  return {
    service_name,
    profile_type: '',
    type: name,
    name,
    unit: name === 'cpu' ? 'nanoseconds' : 'bytes',
    temporality: 'cumulative',
    total: rate * 3600,
    previous_total: previous === null ? null : previous * 3600,
    covered_ns: 3600e9,
    previous_covered_ns: previous === null ? 0 : 3600e9,
    samples: 1000,
    rate,
    previous_rate: previous,
    values: [],
    last_ns: 3600e9,
    hosts: 1,
    profiles: 1,
  };
}
const rows = [row('b', 'alloc', 5e9), row('a', 'cpu', 1e9, 2e9), row('b', 'cpu', 3e9, null), row('c', 'cpu', 2e9, 1e9)];
const range = { to_ns: 3600e9, step_ns: 60e9 };
const sorted = (list: ServiceRow[], sort: string) => names(sortRows(list, sort, range));
const names = (list: ServiceRow[]) => list.map((one) => `${one.service_name} ${one.name}`);

describe('the list of services', () => {
  it('has the largest first, CPU time before bytes', () => {
    expect(sorted(rows, '-rate')).toEqual(['b cpu', 'c cpu', 'a cpu', 'b alloc']);
  });
  it('falls back to that for a column that there is not', () => {
    expect(sorted(rows, 'nonsense')).toEqual(sorted(rows, '-rate'));
  });
  it('puts what changed first and what is new last, in either direction', () => {
    const stopped = { ...row('d', 'cpu', 9e9), last_ns: 1800e9 };
    const cpu = [...filterRows(rows, '', 'cpu'), stopped];
    expect(sorted(cpu, '-change')).toEqual(['c cpu', 'a cpu', 'd cpu', 'b cpu']);
    expect(sorted(cpu, 'change')).toEqual(['a cpu', 'c cpu', 'd cpu', 'b cpu']);
  });
  it('tells what is new or has stopped from what changed', () => {
    expect(changeOf(rows[1], range)).toEqual({ kind: 'changed', factor: 0.5 });
    expect(changeOf(rows[2], range)).toEqual({ kind: 'new' });
    expect(changeOf({ ...rows[1], previous_covered_ns: 0 }, range)).toEqual({ kind: 'new' });
    expect(changeOf({ ...rows[1], last_ns: 3200e9 }, range)).toEqual({ kind: 'stopped', since: 3200e9 });
    expect(changeOf({ ...rows[1], last_ns: 3400e9 }, range).kind).toBe('changed');
    // Long ranges have long steps, and profiles that lie further apart.
    expect(changeOf({ ...rows[1], last_ns: 3200e9 }, { ...range, step_ns: 600e9 }).kind).toBe('changed');
  });
  it('knows which figures are rough', () => {
    expect([99, 100, null].map((samples) => isRough({ ...rows[0], samples }))).toEqual([true, false, false]);
  });
  it('names the types whose samples are not known', () => {
    expect(uncountedTypes(rows)).toEqual([]);
    const unknown = [
      { ...rows[0], name: 'inuse', samples: null },
      { ...rows[1], name: 'alloc', samples: null },
      { ...rows[2], name: 'alloc', samples: null },
    ];
    expect(uncountedTypes([...rows, ...unknown])).toEqual(expect.arrayContaining(['alloc', 'inuse']));
    expect(uncountedTypes(unknown)).toHaveLength(2);
  });
  it('finds all words in any order', () => {
    expect(names(filterRows(rows, 'CPU b', ''))).toEqual(['b cpu']);
    expect(filterRows(rows, '', 'alloc')).toHaveLength(1);
    expect(filterRows(rows, 'zzz', '')).toEqual([]);
  });
  it('turns the order round at the second click', () => {
    expect(nextSort('-rate', 'rate')).toBe('rate');
    expect(nextSort('-rate', 'name')).toBe('name');
    expect(nextSort('name', 'name')).toBe('-name');
    expect(nextSort('name', 'hosts')).toBe('-hosts');
  });
  it('adds up CPU time only', () => {
    const fleet = fleetOf(rows, 0.05, 10);
    expect(fleet).toMatchObject({ services: 3, cores: 6, coreHours: 6, co2: 60 });
    expect(fleet.cost).toBeCloseTo(0.3);
  });
  it('names CPU time first among types', () => {
    expect(typesOf(rows)).toEqual(['cpu', 'alloc']);
  });
  it('sorts ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, i) =>
      row(`service-${i % 3333}`, i % 2 ? 'cpu' : 'alloc', i * 7919),
    );
    expect(sortRows(filterRows(many, 'service', ''), '-change', range)).toHaveLength(10_000);
  });
});

describe('baselines', () => {
  const kept = (service_name: string, profile: string) => ({ service_name, profile, count: 1, last_ns: 0 });
  const stored = (service_name: string, profile_type: string, temporality: 'cumulative' | 'instant') => ({
    ...row(service_name, 'x', 1),
    profile_type,
    temporality,
  });
  it('are shown until a difference of the same counters is there', () => {
    const baselines = [kept('shop', 'mutex'), kept('shop', 'memory'), kept('web', 'mutex')];
    const rows = [
      stored('shop', 'mutex:delay:nanoseconds:contentions:count', 'cumulative'),
      stored('shop', 'memory:inuse_space:bytes:space:bytes', 'instant'),
    ];
    expect(waitingBaselines({ rows, baselines })).toEqual([kept('shop', 'memory'), kept('web', 'mutex')]);
  });
  it('may be missing in the answer of an older server', () => {
    expect(waitingBaselines({ rows: [] })).toEqual([]);
  });
});
