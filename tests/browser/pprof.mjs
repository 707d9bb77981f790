// Folded stacks as pprof, with what folded stacks cannot say: the binary, file and line of each function.

function varint(value) {
  const bytes = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const block = (field, bytes) => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
const message = (field, ...parts) => block(field, Buffer.concat(parts));

// `describe(name)` says { binary, file, line } of a frame, `labels(stack)` the labels of a sample. Counts are CPU samples of 10 ms;
// with `counted` they are a type of their own before it, as most profilers write it.
export function pprofOf(folded, describe, { type = ['cpu', 'nanoseconds'], each = 10_000_000, seconds = 10, labels = () => ({}), counted = false } = {}) {
  const strings = new Map([['', 0]]);
  const text = (value) => {
    if (!strings.has(value)) strings.set(value, strings.size);
    return strings.get(value);
  };
  const binaries = new Map();
  const functions = new Map();
  const idOf = (map, key) => {
    if (!map.has(key)) map.set(key, map.size + 1);
    return map.get(key);
  };
  const samples = folded.trim().split('\n').map((line) => {
    const [, stack, count] = /^(.*) (\d+)$/.exec(line);
    const ids = stack.split(';').map((name) => idOf(functions, name)).reverse(); // innermost first
    const said = Object.entries(labels(stack)).map(([key, value]) => message(3, number(1, text(key)), number(2, text(value))));
    return message(2, block(1, Buffer.concat(ids.map(varint))), block(2, Buffer.concat([...(counted ? [varint(count)] : []), varint(Number(count) * each)])), ...said);
  });
  const parts = [...(counted ? [message(1, number(1, text('samples')), number(2, text('count')))] : []), message(1, number(1, text(type[0])), number(2, text(type[1]))), ...samples];
  for (const [name, id] of functions) {
    const { binary = '', file = '', line = 0 } = describe(name);
    const place = [number(1, id), ...(binary ? [number(2, idOf(binaries, binary))] : []), number(3, 0x1000 + id),
      message(4, number(1, id), number(2, line))];
    parts.push(message(4, ...place));
    parts.push(message(5, number(1, id), number(2, text(name)), number(4, text(file)), number(5, line)));
  }
  for (const [path, id] of binaries) {
    // With names already: nobody need look for them.
    parts.push(message(3, number(1, id), number(2, 0x1000), number(3, 0x100000), number(5, text(path)), number(7, 1), number(8, 1), number(9, 1)));
  }
  parts.push(message(11, number(1, text('cpu')), number(2, text('nanoseconds'))), number(12, each), number(10, seconds * 1e9));
  return Buffer.concat([...parts, ...[...strings.keys()].map((one) => block(6, Buffer.from(one)))]);
}
