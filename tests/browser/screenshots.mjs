// Makes the pictures of the README and the guide, docs/guide/images/*.png, from made-up but lifelike data:
//   node tests/browser/screenshots.mjs      (after `npm ci` in tests/browser; VESTA names another binary than build/vesta)
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch, makeFolder, open } from './harness.mjs';
import { openFlame, openPage, Server } from './pages.mjs';
import { pprofOf } from './pprof.mjs';
import { shop, shopNext } from './profiles.mjs';

const folder = fileURLToPath(new URL('../../docs/guide/images/', import.meta.url));
mkdirSync(folder, { recursive: true });

// Where a function of the shop is from.
const homes = [
  [/_\[k\]$/, '[kernel.kallsyms]'],
  [/^(rocksdb::|rocksdb)/, '/usr/lib/x86_64-linux-gnu/librocksdb.so.9.7'],
  [/^ZSTD_/, '/usr/lib/x86_64-linux-gnu/libzstd.so.1.5.6'],
  [/^(SSL_|tls13)/, '/usr/lib/x86_64-linux-gnu/libssl.so.3'],
  [/^aesni/, '/usr/lib/x86_64-linux-gnu/libcrypto.so.3'],
  [/^(deflate|longest_match)/, '/usr/lib/x86_64-linux-gnu/libz.so.1.3.1'],
  [/^re2::/, '/usr/lib/x86_64-linux-gnu/libre2.so.11'],
  [/^(std::_Hash|operator |std::thread|std::mutex)/, '/usr/lib/x86_64-linux-gnu/libstdc++.so.6'],
  [/^(malloc|free|_int_|strtod|memcmp|pread64|send$|epoll_wait|pthread_|__memmove)/, '/usr/lib/x86_64-linux-gnu/libc.so.6'],
];
function ofShop(name) {
  const binary = homes.find(([pattern]) => pattern.test(name))?.[1] ?? '/usr/bin/checkout';
  const part = /^(?:shop|json|utf8|gzip)::(\w+)/.exec(name)?.[1];
  return { binary, ...(part ? { file: `/build/shop/src/${part.toLowerCase()}.cc`, line: 20 + (name.length * 7) % 180 } : {}) };
}
const clean = (folded) => folded.replaceAll('_[k]', '').replaceAll('_[i]', '');
const kernel = new Set([...shop.matchAll(/([^;\s]+)_\[k\]/g)].map((match) => match[1]));
const describe = (name) => ofShop(kernel.has(name) ? `${name}_[k]` : name);

const go = `
runtime.main;main.main;net/http.(*Server).Serve;net/http.(*conn).serve;acme/search.(*API).Query;acme/search.(*Index).Scan;acme/search.decodePostings 310
runtime.main;main.main;net/http.(*Server).Serve;net/http.(*conn).serve;acme/search.(*API).Query;acme/search.(*Index).Scan;acme/search.(*scorer).bm25;math.Log 190
runtime.main;main.main;net/http.(*Server).Serve;net/http.(*conn).serve;acme/search.(*API).Query;encoding/json.Marshal;encoding/json.(*encodeState).reflectValue;runtime.mallocgc;runtime.nextFreeFast 140
runtime.main;main.main;net/http.(*Server).Serve;net/http.(*conn).serve;compress/gzip.(*Writer).Write;compress/flate.(*compressor).deflate 88
runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject 121
runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;runtime.netpoll 44
`.trimStart();
const python = `
<module>;main;train;Trainer.fit;Trainer.step;Model.forward;Linear.__call__;numpy.matmul 420
<module>;main;train;Trainer.fit;Trainer.step;Model.backward;numpy.matmul 380
<module>;main;train;Trainer.fit;DataLoader.__iter__;DataLoader.collate;json.loads 130
<module>;main;train;Trainer.fit;Trainer.log;logging.info 22
`.trimStart();
const ofGo = (name) => ({ binary: '/usr/bin/search', file: `/build/search/${name.split(/[./(]/).slice(0, 2).join('/')}.go`, line: 40 + name.length });
const ofPython = (name) => (/numpy/.test(name) ? { binary: '/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so' }
  : { binary: '/usr/bin/python3.13', file: `/srv/recommend/${name.split('.')[0].toLowerCase().replace(/\W/g, '')}.py`, line: 12 + name.length });

// As many samples as the hour asks for: a hump at its time, a little unevenness that is the same on every run.
let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 2 ** 32;
};
function scaled(folded, factor, hot = /$^/, more = 1) {
  return folded.trim().split('\n').map((line) => {
    const [, stack, count] = /^(.*) (\d+)$/.exec(line);
    return `${stack} ${Math.max(1, Math.round(count * factor * (0.85 + 0.3 * random()) * (hot.test(stack) ? more : 1)))}`;
  }).join('\n');
}

async function fill(server) {
  const minute = 60_000;
  const end = Date.now() - 20_000;
  const start = end - 118 * minute;
  const plan = [];
  for (let i = 0; i < 236; i++) {
    const at = start + (i * minute) / 2;
    const phase = i / 236;
    const day = 0.55 + 0.25 * Math.sin(phase * 9) + 0.1 * Math.sin(phase * 41);
    const isNew = phase > 0.75; // the release of half an hour ago
    const hump = phase > 0.86 && phase < 0.92 ? 1.9 : 1;
    for (const pod of ['checkout-5d9f-x2kqp', 'checkout-5d9f-m7wzt', 'checkout-5d9f-c4hnr']) {
      const share = pod.endsWith('x2kqp') ? 0.16 : pod.endsWith('m7wzt') ? 0.12 : 0.09;
      plan.push([pprofOf(clean(scaled(isNew ? shopNext : shop, share * day * hump, /_Hash_bytes/, hump > 1 ? 2.2 : 1)), describe, { seconds: 30 }),
        { service: 'checkout', labels: { version: isNew ? '2.14.0' : '2.13.4', pod, region: 'eu-central', 'host.name': `node-${pod.length + pod.charCodeAt(14) % 5}` }, at }]);
    }
    if (i % 2 === 0) {
      plan.push([pprofOf(scaled(go, 0.3 * (1.2 - day)), ofGo, { seconds: 60 }), { service: 'search', labels: { version: '1.9.2', pod: 'search-0', 'host.name': 'node-4' }, at }]);
      plan.push([pprofOf(scaled(python, 0.5 + 0.2 * Math.sin(phase * 60)), ofPython, { seconds: 60 }), { service: 'recommend', labels: { version: '0.8', pod: 'train-1', 'host.name': 'node-7' }, at }]);
      plan.push([pprofOf(scaled(go, 0.02 + 0.05 * phase), ofGo, { seconds: 60 }), { service: 'mail-gateway', labels: { version: '3.1', 'host.name': 'node-4' }, at }]);
      for (const [service, share] of [['payments', 0.045], ['auth', 0.012], ['session-cache', 0.006], ['web-frontend', 0.09]]) {
        const course = share * (1 + 0.4 * Math.sin(phase * 14 + service.length));
        plan.push([pprofOf(scaled(go, course), ofGo, { seconds: 60 }), { service, labels: { version: '1.0', 'host.name': `node-${service.length % 4 + 1}` }, at }]);
      }
      plan.push([pprofOf(clean(scaled(shop, 0.03)), describe, { seconds: 60 }), { service: 'inventory', labels: { version: '5.0', 'host.name': 'node-2' }, at }]);
    }
  }
  for (const [profile, options] of plan) await server.send(profile, { ...options, format: 'pprof' });
}

async function shoot(page, name) {
  const path = `${folder}${name}.png`;
  await page.screenshot({ path });
  // Fewer colours than a page has are enough for it, where a tool for that is at hand.
  try { execFileSync('pngquant', ['--force', '--output', path, '128', path]); } catch { /* larger, then */ }
  if (page.problems.length > 0) console.log(page.problems);
  console.log(`${name}.png ${Math.round(statSync(path).size / 1024)} KB`);
  await page.context().close();
}

// The files that commands write, with the pointer on a frame.
async function shootFiles(browser) {
  const files = makeFolder();
  try {
    const size = { width: 1280, height: 640 };
    const plain = await open(browser, files.convert(shop, 'flamegraph.html'), size);
    const diff = await open(browser, files.diff(shop, shopNext, 'diff.html'), size);
    for (const [page, name] of [[plain, 'flamegraph'], [diff, 'diff']]) {
      const box = await page.locator('.flame-host').boundingBox();
      await page.mouse.move(box.x + box.width * 0.25, box.y + 8.5 * 20);
      await shoot(page, name);
    }
  } finally {
    files.remove();
  }
}

const server = new Server();
const browser = await launch();
try {
  await shootFiles(browser);
  await server.start();
  await fill(server);
  const checkout = 'cpu{service_name="checkout"}';
  const address = (more) => `?${new URLSearchParams({ view: 'explore', query: checkout, ...more })}`;
  const grid = (page) => page.locator('.grid-body [role=row]').first().waitFor();
  const chart = (page) => page.locator('.u-over').waitFor();
  const of = (version) => `cpu{service_name="checkout", version="${version}"}`;
  const compared = { view: 'diff', query: of('2.14.0'), baseline: 1, base_query: of('2.13.4') };
  const pictures = [
    ['services', '', (page) => page.getByRole('row', { name: /checkout/ }).waitFor()],
    ['explore', address({ by: 'pod' }), async (page) => { await chart(page); await openFlame(page); }],
    ['explore-dark', address({ by: 'version' }), async (page) => { await chart(page); await openFlame(page); }, 'dark'],
    ['table', address({ pane: 'both', from: 'now-30m' }), async (page) => { await chart(page); await openFlame(page); await grid(page); }],
    ['diff', address({ ...compared, pane: 'both' }), async (page) => { await openFlame(page); await grid(page); await page.locator('.diff-summary').waitFor(); }],
    ['heatmap', address({ view: 'heatmap', search: 'Hash_bytes' }), async (page) => {
      await page.locator('.heatmap-canvas').waitFor();
      const box = await page.locator('.heatmap-box').boundingBox();
      await page.mouse.move(box.x + box.width * 0.72, box.y + box.height * 0.15);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.86, box.y + box.height * 0.5);
      await page.mouse.up();
      await page.getByText('Flame graph of this').waitFor();
    }],
    ['targets', address({ view: 'targets' }), (page) => page.locator('.targets-table').first().waitFor()],
  ];
  for (const [name, query, ready, theme = 'light'] of pictures) {
    const page = await openPage(browser, server, query, { theme });
    await ready(page);
    await page.waitForLoadState('networkidle'); // whatever comes after the first of it
    await shoot(page, `ui-${name}`);
  }
} finally {
  await browser.close();
  await server.remove();
}
