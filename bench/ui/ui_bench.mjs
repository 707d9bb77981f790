// How quick the pages are, in a real browser with a real server, beside speedscope on the same profile. Prints markdown.
//   node bench/ui/ui_bench.mjs [runs, default 5]
// Needs the binary (VESTA, default build/vesta), Chromium, and the packages of tests/browser and of this folder:
// scripts/bench sees to that.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { frameGaps, latencies, quantile } from '../browser_timing.mjs';
import { launch, vesta } from '../../tests/browser/harness.mjs';
import { openPage, Server } from '../../tests/browser/pages.mjs';
import { makeLarge } from '../../tests/browser/profiles.mjs';

const quick = process.env.VESTA_BENCH_QUICK === '1';
const runs = Number(process.argv[2] ?? (quick ? 2 : 5));
const sizes = quick ? [10_000] : [100_000, 1_000_000];

const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
const mb = (value) => `${(value / 1e6).toFixed(1)} MB`;
const rows = [];
const note = (what, budget, values, unit = ms) =>
  rows.push(`| ${what} | ${unit(quantile(values, 0.5))} | ${unit(quantile(values, 0.95))} | ${budget} | ${values.length} |`);

const mark = (page, name) => page.waitForFunction((wanted) => performance.getEntriesByName(wanted).at(-1)?.startTime, name)
  .then((handle) => handle.jsonValue());

async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  // What typed arrays hold is not in the heap of scripts.
  const { backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
  return usedSize + backingStorageSize;
}

async function zoomAndPan(page) {
  const box = await page.locator('canvas').first().boundingBox();
  for (let i = 0; i < (quick ? 4 : 20); ++i) {
    await page.mouse.move(box.x + box.width * ((i * 0.37 + 0.11) % 1), box.y + 60 + (i % 8) * 20);
    await page.keyboard.down('Control');
    for (let step = 0; step < 5; ++step) await page.mouse.wheel(0, i % 4 < 2 ? -120 : 120);
    await page.keyboard.up('Control');
    await page.waitForTimeout(120);
  }
}

// The marks that the web UI sets (performance.mark).
async function measurePages(browser, server, service, nodes) {
  const shown = [];
  const heaps = [];
  const gaps = [];
  const query = `?view=explore&query=${encodeURIComponent(`cpu{service_name="${service}"}`)}&nodes=${nodes}`;
  for (let run = 0; run < runs; ++run) {
    const page = await openPage(browser, server, query, { reducedMotion: 'no-preference' });
    const drawn = await mark(page, 'vesta:flame-drawn');
    const asked = await page.evaluate(() =>
      performance.getEntriesByType('resource').find(({ name }) => name.includes('/api/v1/flame'))?.startTime ??
      performance.getEntriesByName('vesta:flame-asked').at(-1).startTime);
    shown.push(drawn - asked);
    heaps.push(await heap(page));
    gaps.push(...await frameGaps(page, () => zoomAndPan(page)));
    await page.context().close();
  }
  return { shown, heaps, gaps };
}

async function measureTable(browser, server, service) {
  const sorts = [];
  const query = `?view=explore&pane=table&query=${encodeURIComponent(`cpu{service_name="${service}"}`)}`;
  const page = await openPage(browser, server, query);
  await page.waitForSelector('[role=columnheader]');
  await page.waitForSelector('[role=row][aria-rowindex="3"]');
  sorts.push(...await latencies(page, 'click', async () => {
    for (let run = 0; run < 4 * runs; ++run) {
      await page.locator('[role=columnheader]').nth(run % 2).locator('button').first().click();
      await page.waitForTimeout(50);
    }
  }));
  await page.context().close();
  return sorts;
}

// speedscope's own pages, served as they come.
async function serveSpeedscope(profile) {
  const folder = fileURLToPath(new URL('./node_modules/speedscope/dist/release', import.meta.url));
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
  const server = createServer((request, response) => {
    const name = new URL(request.url, 'http://x').pathname.slice(1) || 'index.html';
    const path = name === 'profile.json' ? profile : join(folder, name);
    if (name !== 'profile.json' && !readdirSync(folder).includes(name)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream' }).end(readFileSync(path));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((done) => server.close(done)) };
}

async function measureSpeedscope(browser, profile) {
  const shown = [];
  const heaps = [];
  const site = await serveSpeedscope(profile);
  try {
    for (let run = 0; run < Math.min(runs, 2); ++run) {
      const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
      const begin = Date.now();
      await page.goto(`${site.url}/#profileURL=${encodeURIComponent(`${site.url}/profile.json`)}`);
      // Its toolbar names the views as soon as a profile is shown.
      await page.waitForFunction(() => document.body.innerText.includes('Left Heavy'), null, { timeout: 180_000 });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      shown.push(Date.now() - begin);
      heaps.push(await heap(page));
      await page.context().close();
    }
  } finally {
    await site.close();
  }
  return { shown, heaps };
}

// What a first visit transfers before anything is asked for.
async function firstLoad(browser, server) {
  const paints = [];
  const ready = [];
  let bytes = 0;
  for (let run = 0; run < runs; ++run) {
    const page = await openPage(browser, server);
    ready.push(await mark(page, 'vesta:interactive'));
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0));
    bytes = await page.evaluate(async () => {
      const names = [location.href, ...performance.getEntriesByType('resource').map(({ name }) => name)].filter((name) => !name.includes('/api/'));
      return Promise.all(names.map((name) => fetch(name).then((answer) => answer.arrayBuffer()).then((buffer) => Array.from(new Uint8Array(buffer)))));
    }).then((files) => files.reduce((sum, file) => sum + gzipSync(Buffer.from(file), { level: 9 }).length, 0));
    await page.context().close();
  }
  return { paints, ready, bytes };
}

const server = new Server();
const browser = await launch();
try {
  await server.start();
  await server.send(makeLarge(1000), { service: 'small' });
  const first = await firstLoad(browser, server);
  rows.push(`| first load, JS, CSS and HTML, gzip | ${(first.bytes / 1000).toFixed(1)} KB | | ≤ 70 KB | |`);
  note('navigation to first paint', '≤ 200 ms', first.paints);
  note('navigation to interactive', '≤ 400 ms', first.ready);
  for (const nodes of sizes) {
    const folded = makeLarge(nodes);
    const service = `large-${nodes}`;
    // A body may not be as large as a million nodes are in text.
    const lines = folded.split('\n');
    const part = Math.ceil(lines.length / Math.ceil(folded.length / 50e6));
    for (let from = 0; from < lines.length; from += part) {
      await server.send(lines.slice(from, from + part).join('\n'), { service, ago: 60 + from / part });
    }
    const words = `${nodes.toLocaleString('en-US')} nodes`;
    const { shown, heaps, gaps } = await measurePages(browser, server, service, nodes);
    note(`${words}: request to drawn`, nodes > 100_000 ? '≤ 2 s' : '≤ 500 ms', shown);
    note(`${words}: time between frames while zooming`, nodes > 100_000 ? '' : 'p95 ≤ 20 ms', gaps);
    note(`${words}: heap`, nodes > 100_000 ? '' : '≤ 30 MB', heaps, mb);
    const source = server.file(`${nodes}.folded`, folded);
    const target = join(server.folder, `${nodes}.speedscope.json`);
    execFileSync(vesta, ['convert', source, '-o', target], { stdio: 'pipe' });
    const other = await measureSpeedscope(browser, target);
    note(`${words}: speedscope, navigation to shown`, '', other.shown);
    note(`${words}: speedscope, heap`, '', other.heaps, mb);
  }
  const wide = Array.from({ length: quick ? 5000 : 50_000 }, (_, i) => `main;function_${i}_${(i * 7919) % 50_000} ${1 + (i * 31) % 997}`).join('\n');
  await server.send(wide, { service: 'wide' });
  note(`table of ${quick ? '5,000' : '50,000'} rows: click to sorted rows on screen`, 'sort ≤ 30 ms', await measureTable(browser, server, 'wide'));
  console.log(`${browser.browserType().name()} ${browser.version()}, 1440 × 900\n`);
  console.log('| What | p50 | p95 | Budget | n |\n|---|---|---|---|---|');
  console.log(rows.join('\n'));
} finally {
  await browser.close();
  await server.remove();
}
