// Does a known amount of work under @datadog/pprof, writes the profile and prints as JSON what it did.
// Usage: node burn.js time|heap OUT.pb.gz. The package is found through NODE_PATH.
'use strict';

const fs = require('fs');
const pprof = require('@datadog/pprof');

function mix(x) {
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return x;
}

function heavy(x, scale) {
  for (let i = 0; i < 150000 * scale; i++) x = mix(x);
  return x;
}

function medium(x, scale) {
  for (let i = 0; i < 75000 * scale; i++) x = mix(x);
  return x;
}

function light(x, scale) {
  for (let i = 0; i < 25000 * scale; i++) x = mix(x);
  return x;
}

// Rounds of varying length do not fall into step with the sampling interval.
function burn(seconds) {
  const start = process.hrtime.bigint();
  const end = start + BigInt(Math.round(seconds * 1e9));
  let x = 1234567;
  let dice = 2463534242;
  while (process.hrtime.bigint() < end) {
    dice = mix(dice);
    const scale = 1 + (dice & 7);
    x = light(medium(heavy(x, scale), scale), scale);
  }
  return { elapsed_ns: Number(process.hrtime.bigint() - start), checksum: x };
}

function keepArrays(kept, count) {
  for (let i = 0; i < count; i++) kept.push(new Array(8192).fill(i));
}

async function main() {
  const [kind, out] = process.argv.slice(2);
  let profile;
  let result;
  if (kind === 'time') {
    pprof.time.start({ intervalMicros: 5000, lineNumbers: true });
    result = burn(2.5);
    profile = pprof.time.stop();
  } else if (kind === 'heap') {
    pprof.heap.start(32 * 1024, 64);
    const kept = [];
    keepArrays(kept, 256);
    profile = pprof.heap.profile();
    // An element of a packed array of small integers is a tagged pointer of 8 bytes.
    result = { kept_bytes: kept.length * 8192 * 8 };
    pprof.heap.stop();
  } else {
    throw new Error('usage: burn.js time|heap OUT.pb.gz');
  }
  fs.writeFileSync(out, await pprof.encode(profile));
  console.log(JSON.stringify(result));
}

main();
