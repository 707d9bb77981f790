// What every browser test needs: files made by the vesta binary, and a page that reports its own misbehaviour.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const vesta = resolve(process.env.VESTA ?? join(root, 'build/vesta'));
if (!existsSync(vesta)) {
  throw new Error(`${vesta} is missing: build it, or name another binary by the environment variable VESTA`);
}

// Ends a file of tests that cannot run here: ctest counts it as skipped, or as failed where everything must run.
export function skip(reason) {
  const must = !['', '0'].includes(process.env.VESTA_REQUIRE_ALL ?? '');
  console.log(must ? `FAIL: would skip, but VESTA_REQUIRE_ALL is set: ${reason}` : `SKIP: ${reason}`);
  process.exit(must ? 1 : 77);
}

export function makeFolder() {
  const path = mkdtempSync(join(tmpdir(), 'vesta-browser-'));
  const write = (name, text) => {
    writeFileSync(join(path, name), text);
    return join(path, name);
  };
  // What it says matters only when it fails; the error then carries it.
  const run = (args) => execFileSync(vesta, args, { stdio: 'pipe' });
  return {
    path,
    // The file that `vesta convert` makes of the folded stacks.
    convert(folded, name) {
      run(['convert', write(`${name}.folded`, folded), '-o', join(path, name)]);
      return join(path, name);
    },
    diff(before, after, name) {
      const files = [write(`${name}.before.folded`, before), write(`${name}.after.folded`, after)];
      run(['diff', ...files, '-o', join(path, name)]);
      return join(path, name);
    },
    remove() { rmSync(path, { recursive: true }); },
  };
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
  });
}

// Opens a file in a new page. `page.problems` collects console errors, exceptions and every request but for the
// file itself; a test ends with expecting none.
export async function open(browser, file, { hash = '', width = 1200, height = 800, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  page.problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => page.problems.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    page.problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url) page.problems.push(`request: ${request.url()}`);
  });
  await page.goto(url + hash);
  if (file.endsWith('.html')) {
    await page.waitForFunction(() =>
      performance.getEntriesByName('vesta:flame-drawn').length > 0 || document.querySelector('.table-pane, .notice') !== null);
  }
  return page;
}

// A browser and a folder of files for the tests of one file; both go when its tests are done.
export function setUp() {
  let browser;
  const folder = makeFolder();
  before(async () => { browser = await launch(); });
  after(async () => {
    await browser.close();
    folder.remove();
  });
  // Runs `body` on a fresh page and expects that the page did nothing it must not do.
  async function onPage(file, options, body) {
    const page = await open(browser, file, options);
    try {
      await body(page);
      assert.deepEqual(page.problems, []);
    } finally {
      await page.context().close();
    }
  }
  return { folder, onPage };
}
