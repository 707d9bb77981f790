// What the server says about itself: limits, link templates, factors for costs, whether there is anything to see yet.
import { signal } from '@preact/signals';
import { askJson } from './client';

export interface ServerConfig {
  version: string;
  tenant: string;
  scopes: string[] | null;
  trace_link: string;
  span_link: string;
  editor_link: string;
  cost_per_core_hour: number;
  co2_per_core_hour: number;
  limits: { nodes_default: number; nodes_max: number; file_bytes: number };
  time_ns: number;
  empty: boolean;
}

export const serverConfig = signal<Partial<ServerConfig>>({});

// Views work without it, so that a failure is only noticed where something else fails too.
export async function loadServerConfig() {
  try {
    serverConfig.value = await askJson<ServerConfig>('config', new URLSearchParams());
  } catch {
    // the next refresh asks again
  }
}
