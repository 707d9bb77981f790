// The list of services without the page: what is shown, in which order, and what it adds up to.
import type { Warning } from '../../api/types';
import { plainService } from '../../text/names';
import { compareWords, mainType } from '../../text/profile_types';

export interface ServiceRow {
  service_name: string;
  profile_type: string;
  type: string;
  name: string; // the word that a selector takes
  unit: string;
  temporality: 'cumulative' | 'instant';
  total: number;
  previous_total: number | null;
  covered_ns: number; // that has data
  previous_covered_ns: number;
  samples: number | null; // null: not known
  rate: number; // per second of the time that has data
  previous_rate: number | null;
  values: (number | null)[]; // null: no data
  last_ns: number;
  hosts: number;
  profiles: number;
}
export interface ServicesAnswer {
  from_ns: number;
  to_ns: number;
  step_ns: number;
  rows: ServiceRow[];
  cut: { rows: number };
  warnings?: Warning[];
  baselines?: Baseline[];
}
// Readings of counters that were kept to be compared with the next one, and not stored.
export interface Baseline {
  service_name: string;
  profile: string; // "mutex": the first part of profile types
  count: number;
  last_ns: number;
}

// Those that explain why there is nothing: no difference of the same counters is here.
export function waitingBaselines(answer: Pick<ServicesAnswer, 'rows' | 'baselines'>): Baseline[] {
  const stored = new Set(
    answer.rows
      .filter((row) => row.temporality === 'cumulative')
      .map((row) => `${row.profile_type.split(':', 1)[0]}:${row.service_name}`),
  );
  return (answer.baselines ?? []).filter((one) => !stored.has(`${one.profile}:${one.service_name}`));
}

export type Column = 'name' | 'type' | 'rate' | 'change' | 'hosts' | 'last';
export const columns: Column[] = ['name', 'type', 'rate', 'change', 'hosts', 'last'];

// Every word must occur in the service or the type.
export function filterRows(rows: readonly ServiceRow[], filter: string, type: string): ServiceRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (type && row.name !== type) return false;
    if (words.length === 0) return true;
    const text = `${row.service_name} ${row.name} ${row.type}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export type Change =
  | { kind: 'changed'; factor: number } // of the rate
  | { kind: 'stopped'; since: number } // Unix nanoseconds of the last profile
  | { kind: 'new' };

const longestSilence = 300e9;

// Against the time before. Only what has data in both, and still has, changed: a program that began is new, one that ended
// did not become cheaper.
export function changeOf(row: ServiceRow, range: Pick<ServicesAnswer, 'to_ns' | 'step_ns'>): Change {
  if (row.last_ns < range.to_ns - Math.max(longestSilence, 2 * range.step_ns)) {
    return { kind: 'stopped', since: row.last_ns };
  }
  const before = row.previous_rate;
  if (before === null || row.previous_covered_ns === 0) return { kind: 'new' };
  if (before === 0) return row.rate === 0 ? { kind: 'changed', factor: 1 } : { kind: 'new' };
  return { kind: 'changed', factor: row.rate / before };
}

// Below this a figure is rough.
const fewSamples = 100;
export function isRough(row: ServiceRow): boolean {
  return row.samples !== null && row.samples < fewSamples;
}

// The types of rows of which nobody knows how rough they are.
export function uncountedTypes(rows: readonly ServiceRow[]): string[] {
  return [...new Set(rows.filter((row) => row.samples === null).map((row) => row.name))].sort(compareWords);
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const number = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

const compare: Record<Exclude<Column, 'change'>, (a: ServiceRow, b: ServiceRow) => number> = {
  name: (a, b) => text(plainService(a.service_name), plainService(b.service_name)),
  type: (a, b) => compareWords(a.name, b.name),
  // A rate in bytes is not compared with one in cores.
  rate: (a, b) => -compareWords(a.name, b.name) || number(a.rate, b.rate),
  hosts: (a, b) => number(a.hosts, b.hosts),
  last: (a, b) => number(a.last_ns, b.last_ns),
};

export function readSort(sort: string): { column: Column; descending: boolean } {
  const descending = sort.startsWith('-');
  const column = columns.find((name) => name === sort.slice(descending ? 1 : 0));
  return column ? { column, descending } : { column: 'rate', descending: true };
}

const changeRank: Record<Change['kind'], number> = { changed: 0, stopped: 1, new: 2 };

// In either direction what changed comes before what cannot be compared, and what is new last.
function compareChange(a: Change, b: Change, sign: number): number {
  if (a.kind === 'changed' && b.kind === 'changed') return sign * number(a.factor, b.factor);
  return changeRank[a.kind] - changeRank[b.kind];
}

export function sortRows(
  rows: readonly ServiceRow[],
  sort: string,
  range: Pick<ServicesAnswer, 'to_ns' | 'step_ns'>,
): ServiceRow[] {
  const { column, descending } = readSort(sort);
  const sign = descending ? -1 : 1;
  const names = (a: ServiceRow, b: ServiceRow) => text(a.service_name, b.service_name) || text(a.name, b.name);
  if (column !== 'change') return [...rows].sort((a, b) => sign * compare[column](a, b) || names(a, b));
  return rows
    .map((row) => ({ row, change: changeOf(row, range) }))
    .sort((a, b) => compareChange(a.change, b.change, sign) || -compare.rate(a.row, b.row) || names(a.row, b.row))
    .map(({ row }) => row);
}

// A click on the column: names begin with A, numbers with the largest; again turns it round.
export function nextSort(sort: string, column: Column): string {
  const now = readSort(sort);
  if (now.column === column) return now.descending ? column : `-${column}`;
  return column === 'name' || column === 'type' ? column : `-${column}`;
}

export interface Fleet {
  services: number;
  cores: number;
  coreHours: number;
  covered: number; // nanoseconds that any service has data for, of those that have most
  cost: number;
  co2: number;
}

export function fleetOf(rows: readonly ServiceRow[], costPerCoreHour = 0, co2PerCoreHour = 0): Fleet {
  const cpu = rows.filter((row) => row.name === mainType.word && row.unit === mainType.unit);
  const coreHours = cpu.reduce((sum, row) => sum + row.total, 0) / 3600e9;
  return {
    services: new Set(rows.map((row) => row.service_name)).size,
    cores: cpu.reduce((sum, row) => sum + row.rate, 0) / 1e9,
    coreHours,
    covered: rows.reduce((most, row) => Math.max(most, row.covered_ns), 0),
    cost: coreHours * costPerCoreHour,
    co2: coreHours * co2PerCoreHour,
  };
}

export function typesOf(rows: readonly ServiceRow[]): string[] {
  return [...new Set(rows.map((row) => row.name))].sort(compareWords);
}
