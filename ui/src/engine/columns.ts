// The flame graph's binary columns (docs/formats/flame-columns.md) read into typed arrays. Nothing here trusts the bytes:
// counts are held against what is left to read before anything is allocated, every number is held against its table.
import type { AnswerHeader, CoverageSummary, Scaled, Warning } from '../api/types';

export const columnsType = 'application/vnd.vesta.flame-columns';

export interface FlameHeader extends AnswerHeader, Scaled {
  group: string;
  path: string[];
  root: string;
  baseline: boolean;
  inlined?: boolean; // whether nodes say so
  total_before?: number;
  total_after?: number;
  cut: { nodes: number; self: number };
  coverage?: CoverageSummary;
}

// Strings as one block of UTF-8: moves between threads without a copy, and only what is looked at becomes text.
export interface StringTable {
  bytes: Uint8Array;
  ends: Uint32Array; // string i is bytes[ends[i - 1] .. ends[i]]
}

export interface NameTable {
  text: Uint32Array; // numbers of strings
  file: Uint32Array;
  binary: Uint32Array;
  line: Int32Array;
  kind: Uint8Array;
}

export interface Weights {
  self: Float64Array;
  cut: Float64Array; // weight of what did not fit the budget, at any depth below
}

export interface Columns {
  header: FlameHeader;
  strings: StringTable;
  names: NameTable;
  count: number;
  parent: Int32Array; // -1 for the root
  name: Uint32Array;
  cutNodes: Uint32Array;
  after: Weights;
  before: Weights | null; // in the baseline
  inlined: Uint8Array | null; // 1 for a frame that was inlined into its caller; null where that is not known
}

export class ColumnsError extends Error {}

class Reader {
  at = 0;
  constructor(
    readonly bytes: Uint8Array,
    readonly what: string,
  ) {}

  fail(why: string): never {
    throw new ColumnsError(`the flame graph cannot be read: ${this.what} ${why}`);
  }
  byte(): number {
    if (this.at >= this.bytes.length) this.fail('is cut off');
    return this.bytes[this.at++];
  }
  // Exact up to 2^53; beyond that the last digits go, which no view shows.
  number(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let factor = 128;
    for (let i = 1; i < 10; i++) {
      byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    return this.fail('has a number without an end');
  }
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  below(limit: number): number {
    const value = this.number();
    if (value >= limit) this.fail(`has the number ${value}, of ${limit}`);
    return value;
  }
  // Each of `value` things takes at least `size` bytes.
  count(size: number): number {
    const value = this.number();
    if (value * size > this.bytes.length - this.at) this.fail(`has ${value} entries, more than it has bytes for`);
    return value;
  }
  block(what: string): Reader {
    return new Reader(this.take(this.number()), what);
  }
  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) this.fail('is cut off');
    const out = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return out;
  }
  end() {
    if (this.at !== this.bytes.length) this.fail('has more entries than there are nodes');
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const readWarning = (given: Partial<Warning> | null) => ({ code: text(given?.code), text: text(given?.text) });

function readHeader(reader: Reader): FlameHeader {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(reader.bytes));
  } catch {
    return reader.fail('is not JSON');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) return reader.fail('is not an object');
  const given = header as Partial<FlameHeader>;
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
  return {
    ...(given as FlameHeader),
    unit: text(given.unit),
    type: text(given.type),
    total: number(given.total),
    group: text(given.group) || 'function',
    path: Array.isArray(given.path) ? given.path.map(text) : [],
    root: text(given.root),
    baseline: given.baseline === true,
    inlined: given.inlined === true,
    duration_ns: number(given.duration_ns),
    warnings: Array.isArray(given.warnings) ? given.warnings.map(readWarning) : [],
    cut: { nodes: number(given.cut?.nodes), self: number(given.cut?.self) },
  };
}

function readStrings(reader: Reader): StringTable {
  const count = reader.count(1);
  const begin = reader.at;
  const ends = new Uint32Array(count);
  // Once to learn the length of them all, once to copy.
  let length = 0;
  for (let i = 0; i < count; i++) {
    length += reader.take(reader.number()).length;
    ends[i] = length;
  }
  const bytes = new Uint8Array(length);
  reader.at = begin;
  for (let i = 0; i < count; i++) {
    const text = reader.take(reader.number());
    bytes.set(text, ends[i] - text.length);
  }
  return { bytes, ends };
}

function readNames(reader: Reader, strings: number): NameTable {
  const count = reader.count(5);
  const names: NameTable = {
    text: new Uint32Array(count),
    file: new Uint32Array(count),
    binary: new Uint32Array(count),
    line: new Int32Array(count),
    kind: new Uint8Array(count),
  };
  for (let i = 0; i < count; i++) {
    names.text[i] = reader.below(strings);
    names.file[i] = reader.below(strings);
    names.binary[i] = reader.below(strings);
    names.line[i] = reader.signed();
    names.kind[i] = reader.byte();
  }
  return names;
}

function readParents(reader: Reader, count: number): Int32Array {
  const parent = new Int32Array(count);
  parent[0] = -1;
  const pops = readNumbers(reader, count - 1);
  for (let i = 1; i < count; i++) {
    let at = i - 1;
    for (let up = pops[i - 1]; up > 0; up--) {
      at = parent[at];
      if (at < 0) reader.fail('go above the root');
    }
    parent[i] = at;
  }
  return parent;
}

// Each below the limit. Nearly all are of one byte or two, which are read here without a call.
function readNumbers(reader: Reader, count: number, limit = 2 ** 32): Uint32Array {
  const out = new Uint32Array(count);
  const { bytes } = reader;
  for (let i = 0; i < count; i++) {
    const first = bytes[reader.at];
    const second = bytes[reader.at + 1];
    let value: number;
    if (first < 0x80) {
      value = first;
      reader.at++;
    } else if (second < 0x80) {
      value = (first & 0x7f) | (second << 7);
      reader.at += 2;
    } else {
      value = reader.number();
    }
    if (value >= limit) reader.fail(`has the number ${value}, of ${limit}`);
    out[i] = value;
  }
  reader.end();
  return out;
}

// A column without bytes is all zeros.
function readWeights(reader: Reader, count: number): Float64Array {
  const out = new Float64Array(count);
  if (reader.bytes.length === 0) return out;
  const { bytes } = reader;
  for (let i = 0; i < count; i++) {
    // Nearly all weights are one byte or two.
    const byte = bytes[reader.at];
    if (byte < 0x80) {
      reader.at++;
      out[i] = (byte & 1) === 0 ? byte >> 1 : -((byte + 1) >> 1);
    } else {
      out[i] = reader.signed();
    }
  }
  reader.end();
  return out;
}

export function decodeColumns(bytes: Uint8Array): Columns {
  const reader = new Reader(bytes, 'the answer');
  const magic = String.fromCharCode(...reader.take(4));
  if (magic !== 'VFC1') reader.fail('is not in the layout VFC1; reload the page if the server is new');
  const header = readHeader(reader.block('the header'));
  const strings = readStrings(reader);
  const names = readNames(reader, strings.ends.length);
  const count = reader.count(2);
  if (count === 0) reader.fail('has no root');
  const parent = readParents(reader.block('the levels'), count);
  const name = readNumbers(reader.block('the names'), count, names.text.length);
  const self = readWeights(reader.block('the weights'), count);
  const cutReader = reader.block('the numbers of cut nodes');
  const cutNodes = cutReader.bytes.length > 0 ? readNumbers(cutReader, count) : new Uint32Array(count);
  const after = { self, cut: readWeights(reader.block('the cut weights'), count) };
  let before: Weights | null = null;
  if (header.baseline) {
    before = {
      self: readWeights(reader.block("the baseline's weights"), count),
      cut: readWeights(reader.block("the baseline's cut weights"), count),
    };
  }
  let inlined: Uint8Array | null = null;
  if (header.inlined) {
    const flags = reader.block('the inlined nodes');
    inlined = flags.take(count).slice();
    flags.end();
  }
  if (reader.at !== bytes.length) reader.fail('goes on after its end');
  return { header, strings, names, count, parent, name, cutNodes, after, before, inlined };
}

// Text of strings, each made when first asked for. Nearly all profiles are plain ASCII: then the whole block is decoded at
// once and strings are slices of it, which cost next to nothing.
export class Strings {
  private readonly texts: (string | undefined)[];
  private readonly decoder = new TextDecoder();
  private plain: string | null | undefined; // null = bytes and characters do not go together
  constructor(readonly table: StringTable) {
    this.texts = new Array(table.ends.length);
  }
  get count(): number {
    return this.table.ends.length;
  }
  get(number: number): string {
    let text = this.texts[number];
    if (text === undefined) {
      text = this.make(number);
      this.texts[number] = text;
    }
    return text;
  }
  private make(number: number): string {
    const { bytes, ends } = this.table;
    const begin = number > 0 ? ends[number - 1] : 0;
    if (this.plain === undefined) {
      const all = this.decoder.decode(bytes);
      this.plain = all.length === bytes.length ? all : null;
    }
    return this.plain?.slice(begin, ends[number]) ?? this.decoder.decode(bytes.subarray(begin, ends[number]));
  }
}
