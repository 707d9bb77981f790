// Answers of the server, as src/server/native/openapi.json describes them. Numbers of 64 bits come as JSON numbers: above
// 2^53 they lose their last digits, which no view shows.
import type { Scale } from '../state/state';

export interface Warning {
  code: string; // few_samples, coverage_differs, …
  text: string;
}
export interface AnswerHeader {
  type: string;
  unit: string;
  total: number;
  duration_ns: number; // that the profiles cover, added up over instances
  covered_ns: number; // the part of the range with data, each moment counted once
  instances: number | null; // that ran at once, on average; null: not known
  samples: number | null; // null: not known
  warnings: Warning[];
  time_ns: number;
  profile_type: string;
  temporality: 'cumulative' | 'instant';
  from_ns: number;
  to_ns: number;
  profiles: number;
  services: number;
}

export interface Loss {
  reason: string;
  count: number;
}
export interface CoverageSummary {
  named: number;
  named_frames?: number;
  complete?: number;
  losses?: Loss[];
}

export interface FrameName {
  name: string;
  file: string;
  line: number;
  binary: string;
  kind?: string;
}

export interface TopRow extends FrameName {
  flat: number;
  cum: number;
  callers?: number; // distinct direct ones
}
export interface Top extends AnswerHeader {
  rows: TopRow[];
  cut: { rows: number; flat: number };
  coverage: CoverageSummary;
}

export interface DiffRow extends FrameName {
  flat_before: number;
  flat_after: number;
  flat_delta: number;
  cum_before: number;
  cum_after: number;
  cum_delta: number;
  p_value?: number | null; // null: not known
  q_value?: number | null;
  significant?: boolean;
  change?: 'new' | 'removed' | 'changed' | 'same';
}
// What makes two sides comparable: the time that they cover, nothing, or their own totals. The baseline's weights come
// multiplied by the factor, the selection's as they are.
export interface Scaled {
  scale?: Scale;
  baseline_factor?: number;
  total_before_raw?: number;
}
export interface Diff extends AnswerHeader, Scaled {
  total_before: number;
  total_after: number;
  total_delta: number;
  baseline: AnswerHeader;
  samples_before?: number; // 0 = not known
  samples_after?: number;
  rows: DiffRow[];
  cut: { rows: number; flat_delta: number };
  coverage: CoverageSummary;
}

export interface TotalsSeries {
  labels: Record<string, string>;
  total?: number;
  times_ns: number[];
  values: number[];
  rates?: number[]; // per second of the part of the bucket that has data
  profiles: number[];
  covered_ns?: number[]; // of each bucket
}
export interface Totals {
  type: string;
  unit: string;
  profile_type: string;
  temporality: 'cumulative' | 'instant';
  from_ns: number;
  to_ns: number;
  step_ns: number;
  series: TotalsSeries[];
  cut: { series: number; total?: number };
}

export interface Coverage extends AnswerHeader {
  named: number;
  named_frames: number;
  complete: number;
  marks: { name: string; weight: number }[];
  unnamed_binaries: { binary: string; build_id: string; weight: number }[];
  losses: Loss[];
}
