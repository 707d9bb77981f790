// The list of services without the page: what is shown, in which order, and what it adds up to.
import { plainService } from '../../text/names';

export interface ServiceRow {
  service_name: string;
  profile_type: string;
  type: string;
  name: string; // the word that a selector takes
  unit: string;
  temporality: 'cumulative' | 'instant';
  total: number;
  previous_total: number | null;
  rate: number;
  previous_rate: number | null;
  values: number[];
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

// How much larger, as a factor; what is new is larger than anything.
export function changeOf(row: ServiceRow): number {
  const before = row.previous_rate;
  if (before === null || before === 0) return row.rate > 0 ? Number.POSITIVE_INFINITY : 1;
  return row.rate / before;
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
// Infinity minus Infinity is no number.
const number = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

// CPU time first, then the other types in their order; a rate in bytes is not compared with one in cores.
const typeRank = (row: ServiceRow) => (row.name === 'cpu' ? '' : row.name);

const compare: Record<Column, (a: ServiceRow, b: ServiceRow) => number> = {
  name: (a, b) => text(plainService(a.service_name), plainService(b.service_name)),
  type: (a, b) => text(typeRank(a), typeRank(b)),
  rate: (a, b) => -text(typeRank(a), typeRank(b)) || number(a.rate, b.rate),
  change: (a, b) => number(changeOf(a), changeOf(b)),
  hosts: (a, b) => number(a.hosts, b.hosts),
  last: (a, b) => number(a.last_ns, b.last_ns),
};

export function readSort(sort: string): { column: Column; descending: boolean } {
  const descending = sort.startsWith('-');
  const column = columns.find((name) => name === sort.slice(descending ? 1 : 0));
  return column ? { column, descending } : { column: 'rate', descending: true };
}

export function sortRows(rows: readonly ServiceRow[], sort: string): ServiceRow[] {
  const { column, descending } = readSort(sort);
  const sign = descending ? -1 : 1;
  return [...rows].sort(
    (a, b) => sign * compare[column](a, b) || text(a.service_name, b.service_name) || text(a.name, b.name),
  );
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
  cost: number;
  co2: number;
}

export function fleetOf(rows: readonly ServiceRow[], costPerCoreHour = 0, co2PerCoreHour = 0): Fleet {
  const cpu = rows.filter((row) => row.name === 'cpu' && row.unit === 'nanoseconds');
  const coreHours = cpu.reduce((sum, row) => sum + row.total, 0) / 3600e9;
  return {
    services: new Set(rows.map((row) => row.service_name)).size,
    cores: cpu.reduce((sum, row) => sum + row.rate, 0) / 1e9,
    coreHours,
    cost: coreHours * costPerCoreHour,
    co2: coreHours * co2PerCoreHour,
  };
}

export function typesOf(rows: readonly ServiceRow[]): string[] {
  const names = new Set(rows.map((row) => row.name));
  return [...names].sort((a, b) => (a === 'cpu' ? -1 : b === 'cpu' ? 1 : text(a, b)));
}
