// Burns CPU under the Pyroscope SDK for Node, then flushes and leaves. Usage: node burn.js SERVER
const Pyroscope = require('@pyroscope/nodejs');

let sink = 0;
let kept = [];

function spin(milliseconds) {
  const end = Date.now() + milliseconds;
  while (Date.now() < end) {
    for (let i = 0; i < 100000; i++) sink = (sink * 31 + i) | 0;
  }
}
function heavy() {
  spin(300);
}
function light() {
  spin(100);
}
function keepObjects() {
  for (let i = 0; i < 20000; i++) kept.push({ number: i, text: 'x'.repeat(100) + i });
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function main() {
  Pyroscope.init({
    serverAddress: process.argv[2],
    appName: 'compat.node',
    authToken: process.env.VESTA_TOKEN || undefined,
    tags: { region: 'east' },
    flushIntervalMs: 2000,
    wall: { collectCpuTime: true, samplingDurationMs: 2000 },
    heap: { samplingIntervalBytes: 4096, stackDepth: 64 },
  });
  Pyroscope.start();
  keepObjects();
  const start = Date.now();
  while (Date.now() - start < 6000) {
    heavy();
    light();
    await pause(20); // requests go out between two rounds
  }
  await pause(3000);
  // stop() of this release throws while a round is under way; what was sent by now is enough.
  const usage = process.cpuUsage();
  console.log(JSON.stringify({ cpu_ns: (usage.user + usage.system) * 1000, kept: kept.length }));
  process.exit(0);
}
main();
