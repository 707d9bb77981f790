// How quick the flame graph page is, in a real browser. Prints a markdown table.
//   node bench/html_flame_bench.mjs [frames, default 100000] [runs, default 5]
// Needs the binary (VESTA, default build/vesta), Chromium and the packages of tests/browser: scripts/bench sees to that.
import { statSync } from 'node:fs';
import { frameGaps, latencies, quantile } from './browser_timing.mjs';
import { launch, makeFolder, open } from '../tests/browser/harness.mjs';
import { makeLarge } from '../tests/browser/profiles.mjs';

const quick = process.env.VESTA_BENCH_QUICK === '1';
const frames = Number(process.argv[2] ?? (quick ? 10_000 : 100_000));
const runs = Number(process.argv[3] ?? (quick ? 2 : 5));
const ZOOMS = quick ? 8 : 40;

async function zoomInAndOut(page, pause) {
  const box = await page.locator('.flame-host').boundingBox();
  for (let i = 0; i < ZOOMS; i++) {
    const row = 1 + i % 12;
    await page.mouse.click(box.x + box.width * ((i * 0.37 + 0.11) % 1), box.y + row * 20 + 10);
    await page.waitForTimeout(pause);
    if (i % 4 === 3) await page.keyboard.press('0');
  }
}

const folder = makeFolder();
const browser = await launch();
try {
  const file = folder.convert(makeLarge(frames), 'bench.html');
  const size = { width: 1440, height: 900 };
  const drawn = [];
  const script = [];
  for (let i = 0; i < runs; i++) {
    const page = await open(browser, file, size);
    const marks = await page.evaluate(() => Object.fromEntries(
      performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime])));
    drawn.push(marks['vesta:flame-drawn']);
    script.push(marks['vesta:flame-drawn'] - marks['vesta:start']);
    await page.context().close();
  }
  const still = await open(browser, file, size);
  const zooms = await latencies(still, 'pointerup', () => zoomInAndOut(still, 30));
  const hovers = await latencies(still, 'pointermove', async () => {
    for (let i = 0; i < 100; i++) await still.mouse.move(20 + i * 13, 250 + (i * 7) % 400);
  });
  const keystrokes = await latencies(still, 'input', async () => {
    await still.focus('.flame-search input');
    await still.keyboard.type('component42<acme', { delay: 40 });
  });
  await still.fill('.flame-search input', '');
  const inverts = await latencies(still, 'keydown', async () => {
    await still.focus('.flame-host');
    await still.keyboard.press('i');
  });
  await still.context().close();
  const gliding = await open(browser, file, { ...size, reducedMotion: 'no-preference' });
  const gaps = await frameGaps(gliding, () => zoomInAndOut(gliding, 160));
  await gliding.context().close();

  const ms = (value) => `${value.toFixed(1)} ms`;
  const row = (what, values) => `| ${what} | ${ms(quantile(values, 0.5))} | ${ms(quantile(values, 0.95))} | ${values.length} |`;
  console.log(`HTML flame graph, ${frames.toLocaleString('en-US')} frames, ` +
      `${(statSync(file).size / 1e6).toFixed(2)} MB, ${browser.browserType().name()} ${browser.version()}\n`);
  console.log('| What | p50 | p95 | n |\n|---|---|---|---|');
  console.log(row('navigation to first complete draw', drawn));
  console.log(row('of it: decode, lay out, draw', script));
  console.log(row('click to zoomed frame on screen', zooms));
  console.log(row('time between frames while zooms glide', gaps));
  console.log(row('pointer to details and tooltip', hovers));
  console.log(row('keystroke in the search to result', keystrokes));
  console.log(row('turn bottom-up', inverts));
} finally {
  await browser.close();
  folder.remove();
}
