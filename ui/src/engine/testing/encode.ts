// Columns written as the server writes them, for tests and benchmarks.
import type { FlameHeader } from '../columns';

export class Writer {
  private bytes = new Uint8Array(1 << 12);
  private length = 0;
  byte(value: number) {
    if (this.length === this.bytes.length) this.grow(1);
    this.bytes[this.length++] = value;
  }
  number(value: number) {
    let rest = value;
    while (rest >= 128) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }
  signed(value: number) {
    this.number(value >= 0 ? value * 2 : -value * 2 - 1);
  }
  raw(bytes: Uint8Array) {
    if (this.length + bytes.length > this.bytes.length) this.grow(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }
  block(bytes: Uint8Array) {
    this.number(bytes.length);
    this.raw(bytes);
  }
  done(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
  private grow(by: number) {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + by));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

export interface NameRow {
  name: string;
  file?: string;
  binary?: string;
  line?: number;
  kind?: number;
}

// In pre-order; the first is the root.
export interface NodeRow {
  parent: number;
  name: number;
  self: number;
  cutNodes?: number;
  cut?: number;
  selfBefore?: number;
  cutBefore?: number;
}

export const testHeader: FlameHeader = {
  type: 'cpu',
  unit: 'nanoseconds',
  total: 0,
  duration_ns: 3_600_000_000_000,
  covered_ns: 0,
  instances: 0,
  samples: null,
  warnings: [],
  time_ns: 1_763_200_000_000_000_000,
  profile_type: 'process_cpu:cpu:nanoseconds:cpu:nanoseconds',
  temporality: 'cumulative',
  from_ns: 1_763_200_000_000_000_000,
  to_ns: 1_763_203_600_000_000_000,
  profiles: 60,
  services: 1,
  group: 'function',
  path: [],
  root: 'total',
  baseline: false,
  cut: { nodes: 0, self: 0 },
  coverage: { named: 1, losses: [] },
};

export function encodeColumns(header: Partial<FlameHeader>, names: NameRow[], nodes: NodeRow[]): Uint8Array {
  const out = new Writer();
  const utf8 = new TextEncoder();
  let total = 0;
  let before = 0;
  for (const node of nodes) {
    total += node.self + (node.cut ?? 0);
    before += (node.selfBefore ?? 0) + (node.cutBefore ?? 0);
  }
  const whole: FlameHeader = {
    ...testHeader,
    total,
    ...(header.baseline ? { total_before: before, total_after: total } : {}),
    cut: {
      nodes: nodes.reduce((sum, node) => sum + (node.cutNodes ?? 0), 0),
      self: nodes.reduce((sum, node) => sum + (node.cut ?? 0), 0),
    },
    ...header,
  };
  out.raw(utf8.encode('VFC1'));
  out.block(utf8.encode(JSON.stringify(whole)));
  const strings = new Map<string, number>([['', 0]]);
  const numberOf = (text: string) => {
    let number = strings.get(text);
    if (number === undefined) {
      number = strings.size;
      strings.set(text, number);
    }
    return number;
  };
  const rows = new Writer();
  for (const name of names) {
    rows.number(numberOf(name.name));
    rows.number(numberOf(name.file ?? ''));
    rows.number(numberOf(name.binary ?? ''));
    rows.signed(name.line ?? 0);
    rows.byte(name.kind ?? 0);
  }
  out.number(strings.size);
  for (const text of strings.keys()) out.block(utf8.encode(text));
  out.number(names.length);
  out.raw(rows.done());
  out.number(nodes.length);
  const depth = new Uint32Array(nodes.length);
  const column = (write: (writer: Writer, node: NodeRow, i: number) => void) => {
    const writer = new Writer();
    nodes.forEach((node, i) => {
      write(writer, node, i);
    });
    out.block(writer.done());
  };
  column((writer, node, i) => {
    if (i === 0) return;
    depth[i] = depth[node.parent] + 1;
    writer.number(depth[i - 1] + 1 - depth[i]);
  });
  column((writer, node) => writer.number(node.name));
  column((writer, node) => writer.signed(node.self));
  column((writer, node) => writer.number(node.cutNodes ?? 0));
  column((writer, node) => writer.signed(node.cut ?? 0));
  if (whole.baseline) {
    column((writer, node) => writer.signed(node.selfBefore ?? 0));
    column((writer, node) => writer.signed(node.cutBefore ?? 0));
  }
  return out.done();
}
