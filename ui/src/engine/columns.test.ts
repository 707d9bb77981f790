import { describe, expect, it } from 'vitest';
import { ColumnsError, decodeColumns, Strings } from './columns';
import { encodeColumns, type NameRow, type NodeRow, testHeader, Writer } from './testing/encode';
import { random, syntheticRows } from './testing/synthetic';

const names: NameRow[] = [{ name: '' }, { name: 'main', file: 'a.cc', binary: '/bin/a', line: -3, kind: 1 }];
const nodes: NodeRow[] = [
  { parent: -1, name: 0, self: 0 },
  { parent: 0, name: 1, self: 2, cutNodes: 1, cut: 5 },
];

describe('columns', () => {
  it('are those of the example in docs/formats', () => {
    const bytes = [
      ...new TextEncoder().encode('VFC1'),
      ...[2, 0x7b, 0x7d],
      ...[0x02, 0x00, 0x04, 0x6d, 0x61, 0x69, 0x6e],
      ...[0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00],
      ...[0x02, 0x01, 0x00, 0x02, 0x00, 0x01, 0x02, 0x00, 0x04, 0x02, 0x00, 0x01, 0x02, 0x00, 0x0a],
    ];
    const columns = decodeColumns(Uint8Array.from(bytes));
    const strings = new Strings(columns.strings);
    expect([...columns.parent]).toEqual([-1, 0]);
    expect(strings.get(columns.names.text[columns.name[1]])).toBe('main');
    expect([...columns.after.self]).toEqual([0, 2]);
    expect([...columns.cutNodes]).toEqual([0, 1]);
    expect([...columns.after.cut]).toEqual([0, 5]);
    expect(columns.before).toBeNull();
  });

  it.each([false, true])('come back as they were written, with a baseline: %s', (baseline) => {
    const rows = syntheticRows({ nodes: 400, seed: 3, baseline, cut: true });
    rows.nodes[5].self = 2 ** 52 + 1;
    rows.nodes[6].self = -123456789012;
    const columns = decodeColumns(encodeColumns({ baseline }, rows.names, rows.nodes));
    const strings = new Strings(columns.strings);
    expect(columns.count).toBe(rows.nodes.length);
    rows.nodes.forEach((node, i) => {
      expect([
        columns.parent[i],
        columns.name[i],
        columns.after.self[i],
        columns.after.cut[i],
        columns.cutNodes[i],
      ]).toEqual([node.parent, node.name, node.self, node.cut ?? 0, node.cutNodes ?? 0]);
      if (baseline) expect(columns.before!.self[i]).toBe(node.selfBefore ?? 0);
    });
    rows.names.forEach((name, i) => {
      expect(strings.get(columns.names.text[i])).toBe(name.name);
      expect(strings.get(columns.names.binary[i])).toBe(name.binary ?? '');
      expect(columns.names.kind[i]).toBe(name.kind ?? 0);
    });
  });

  it('keep strings that are no good text readable', () => {
    const bytes = encodeColumns({}, [{ name: '' }, { name: 'abc' }], nodes);
    bytes[bytes.indexOf(0x61, bytes.length - 40)] = 0xff; // not UTF-8
    const columns = decodeColumns(bytes);
    expect(new Strings(columns.strings).get(1)).toBe('\ufffdbc');
  });

  it('that end too early are refused at every length', () => {
    const bytes = encodeColumns({}, names, nodes);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeColumns(bytes.subarray(0, length))).toThrow(ColumnsError);
    }
    expect(() => decodeColumns(Uint8Array.from([...bytes, 0]))).toThrow(ColumnsError);
  });

  it('are refused or read, never waited for, whatever the bytes', () => {
    const good = encodeColumns({}, names, nodes);
    const next = random(99);
    for (let round = 0; round < 3000; round++) {
      const bytes = good.slice();
      for (let change = 0; change < 1 + (round % 4); change++)
        bytes[4 + Math.floor(next() * (bytes.length - 4))] = Math.floor(next() * 256);
      try {
        decodeColumns(bytes);
      } catch (error) {
        if (!(error instanceof ColumnsError)) throw error;
      }
    }
  }, 60_000);

  it('do not make anybody allocate what a count claims', () => {
    for (const place of ['strings', 'names', 'nodes'] as const) {
      const out = new Writer();
      out.raw(new TextEncoder().encode('VFC1'));
      out.block(new TextEncoder().encode(JSON.stringify(testHeader)));
      if (place !== 'strings') {
        out.number(1);
        out.number(0);
      }
      if (place === 'nodes') out.number(0);
      out.number(2 ** 40);
      expect(() => decodeColumns(out.done())).toThrow(/more than it has bytes for/);
    }
  });
});
