// The data of the page, as html_writer.cc encodes it (see README.md).

function decodeBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function makeVarintReader(bytes) {
  let at = 0;
  const read = () => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * factor; // numbers, not bits: values pass 2^32
      if (byte < 0x80) return value;
      factor *= 128;
    }
  };
  const readSigned = () => {
    const value = read();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  return { read, readSigned };
}

// Pre-order in, level order out.
function decodeTree(data) {
  const hasBefore = data.before !== undefined;
  const count = data.nodeCount;
  const { read, readSigned } = makeVarintReader(decodeBase64(data.nodes));
  const depths = new Int32Array(count);
  const refs = new Int32Array(count);
  const selfs = new Float64Array(count);
  const befores = new Float64Array(hasBefore ? count : 0);
  const perLevel = [];
  let depth = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0) depth += 1 - read();
    depths[i] = depth;
    perLevel[depth] = (perLevel[depth] ?? 0) + 1;
    refs[i] = read();
    selfs[i] = readSigned();
    if (hasBefore) befores[i] = readSigned();
  }
  const next = [];
  perLevel.reduce((sum, size, level) => ((next[level] = sum), sum + size), 0);
  const tree = new Tree(count, hasBefore);
  const open = new Int32Array(perLevel.length); // the latest node of each level, the parent of what follows
  for (let i = 0; i < count; i++) {
    const level = depths[i];
    const node = next[level]++;
    open[level] = node;
    tree.parent[node] = level === 0 ? 0 : open[level - 1];
    tree.frame[node] = refs[i] >> 1;
    tree.inlined[node] = refs[i] & 1;
    tree.self[node] = selfs[i];
    if (hasBefore) tree.selfBefore[node] = befores[i];
  }
  return tree.finish();
}
