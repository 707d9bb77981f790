import { describe, expect, it } from 'vitest';
import { changeOf, filterRows, fleetOf, nextSort, type ServiceRow, sortRows, typesOf, waitingBaselines } from './rows';

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
    rate,
    previous_rate: previous,
    values: [],
    last_ns: 0,
    hosts: 1,
    profiles: 1,
  };
}
const rows = [row('b', 'alloc', 5e9), row('a', 'cpu', 1e9, 2e9), row('b', 'cpu', 3e9, null), row('c', 'cpu', 2e9, 1e9)];
const names = (list: ServiceRow[]) => list.map((one) => `${one.service_name} ${one.name}`);

describe('the list of services', () => {
  it('has the largest first, CPU time before bytes', () => {
    expect(names(sortRows(rows, '-rate'))).toEqual(['b cpu', 'c cpu', 'a cpu', 'b alloc']);
  });
  it('falls back to that for a column that there is not', () => {
    expect(names(sortRows(rows, 'nonsense'))).toEqual(names(sortRows(rows, '-rate')));
  });
  it('puts what is new before what grew', () => {
    expect(names(sortRows(filterRows(rows, '', 'cpu'), '-change'))).toEqual(['b cpu', 'c cpu', 'a cpu']);
    expect(changeOf(rows[1])).toBe(0.5);
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
    expect(sortRows(filterRows(many, 'service', ''), '-rate')).toHaveLength(10_000);
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
