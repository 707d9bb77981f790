// What /api/v1/agents, /targets and /coverage answer.
import type { Loss } from '../../api/types';

export interface Agent {
  host: string;
  agent: string;
  services: number;
  types: string[];
  profiles: number;
  last_ns: number;
  rate_hz: number; // 0 = not known
  complete: number | null; // shares of the weight
  named: number | null;
  total: number;
  losses: Loss[];
}
export interface LocalAgent {
  version?: string;
  uptime_s?: number;
  rate_hz?: number;
  rate_configured_hz?: number;
  processes?: number;
  samples?: number;
  losses?: Loss[];
  troubles?: Loss[]; // what went wrong without a loss
  exporters?: { name: string; sent: number; failed: number; queued: number; last_error?: string }[];
  memory_bytes?: number; // of the whole process
  cpu_share?: number; // cores
  cpu_budget?: number;
  problems?: string[];
}
export interface Agents {
  agents: Agent[];
  local: LocalAgent | null;
  cut: { agents: number };
}
export interface Target {
  job: string;
  url: string;
  profile: string;
  labels: Record<string, string>;
  health: string;
  last_error: string;
  last_scrape_ns: number;
  last_duration_ns: number;
  scrapes: number;
  failures: number;
}
export interface Targets {
  targets: Target[];
  problems: string[];
}
