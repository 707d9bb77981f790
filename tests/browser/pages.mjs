// What tests of the pages need: a real server with known profiles, and a page that reports its own misbehaviour.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';
import { launch, vesta } from './harness.mjs';

const patience = 60_000; // for anything that should take far less: the machine may be busy

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

// A `vesta server`, or with `role` another command that serves. Its data are in a folder that goes with it.
export class Server {
  constructor({ role = 'server', options = [], prefix = '', config } = {}) {
    this.role = role;
    this.config = config; // (folder) => text of the configuration
    this.options = options;
    this.prefix = prefix; // before all paths, as a proxy leaves it there
    this.folder = mkdtempSync(join(tmpdir(), 'vesta-pages-'));
  }

  async start() {
    this.port ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}${this.prefix}`;
    this.log = join(this.folder, 'log');
    const log = openSync(this.log, 'a');
    const config = this.config ? ['--config', this.file('vesta.yaml', this.config(this.folder))] : [];
    this.process = spawn(vesta, [this.role, '--data', join(this.folder, 'data'), '--http', `127.0.0.1:${this.port}`, '--grpc', '',
      '--otlp-http', '', ...config, ...this.options], { stdio: ['ignore', log, log], env: { ...process.env, VESTA_SERVER_PATH_PREFIX: this.prefix } });
    const ended = new Promise((done) => this.process.once('exit', done));
    this.ended = ended;
    for (let tries = 0; tries < 600; ++tries) {
      if (this.process.exitCode !== null) throw new Error(`the server ended:\n${readFileSync(this.log)}`);
      try {
        if ((await fetch(`${this.url}/ready`)).ok) return this;
      } catch {
        // not yet
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`the server is not ready:\n${readFileSync(this.log)}`);
  }

  async stop(signal = 'SIGTERM') {
    if (this.process && this.process.exitCode === null) this.process.kill(signal);
    await this.ended;
  }

  // A profile, of folded stacks if nothing else is said, that begins `ago` seconds before now, or at a time in Unix milliseconds.
  async send(profile, { service, labels = {}, ago = 60, at = Date.now() - ago * 1000, type = 'cpu', format = 'folded' }) {
    const time = String(Math.round(at / 1000));
    const parameters = new URLSearchParams({ service_name: service, time, type, format });
    // JSON quotes as selectors do.
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    if (pairs.length > 0) parameters.set('labels', `{${pairs.join(', ')}}`);
    // Large ones would go over the limit of a body as it is sent.
    const packed = profile.length > 1e6;
    const answer = await fetch(`${this.url}/api/v1/profiles?${parameters}`, {
      method: 'POST',
      body: packed ? gzipSync(profile) : profile,
      headers: packed ? { 'Content-Encoding': 'gzip' } : {},
    });
    assert.equal(answer.status, 200, await answer.text());
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  file(name, content) {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }
}

// Opens a state of the pages. `page.problems` collects console errors, exceptions, violations of the policy and every
// request to elsewhere; a test ends with expecting none. The browser says of itself when an answer has a status of an
// error: those in `statuses` are meant.
export async function openPage(browser, server, query = '', {
  width = 1440, height = 900, theme = 'light', path = '/', statuses = [], prepare = () => {}, shared, ...options } = {}) {
  const context = shared ?? await browser.newContext({
    viewport: { width, height }, reducedMotion: 'reduce', colorScheme: theme, acceptDownloads: true, ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (message) => {
    const status = /responded with a status of (\d+)/.exec(message.text())?.[1];
    if (status && statuses.includes(Number(status))) return;
    if (['error', 'warning'].includes(message.type())) page.problems.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => page.problems.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith('blob:')) {
      page.problems.push(`request: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await prepare(page);
  await page.goto(server.url + path + query);
  await page.waitForSelector('main > *');
  return page;
}

// Waits until an assertion holds; then or at the end of the patience, it speaks for itself.
export async function eventually(check) {
  for (const end = Date.now() + patience; ;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((done) => setTimeout(done, 40));
  }
}

// What a view says, as people would read it.
export const stateOf = (page) => new URL(page.url()).searchParams;
export const openFlame = (page) => page.waitForSelector('.flame[aria-busy=false] .flame-canvas');
export const focusedBar = (page, tree = '.flame-host') => page.locator(tree).first().evaluate((host) =>
  document.getElementById(host.getAttribute('aria-activedescendant'))?.textContent ?? '');
export async function detailsOf(page) {
  const [name, numbers] = await page.locator('.flame-details').evaluate((line) => [line.querySelector('.flame-details-name').textContent,
    [...line.querySelectorAll('.flame-number')].map((one) => [one.children[0].textContent, one.children[1].textContent])]);
  return { name, ...Object.fromEntries(numbers.filter(([title]) => title)) };
}
// To the first match; not before the search has looked.
export async function searchFor(page, text) {
  await page.fill('.flame-search input', text);
  await page.locator('.flame-found', { hasText: ' in ' }).waitFor();
  await page.locator('.flame-search input').press('Enter');
  await eventually(async () => assert.notEqual(await focusedBar(page), ''));
}
// Each row as an object by the titles of its columns.
export const rowsOf = (page) => page.locator('.grid').evaluate((grid) => {
  const titles = [...grid.querySelectorAll('[role=columnheader]')].map((title) => title.textContent.replace(/[▼▲]/, ''));
  return [...grid.querySelectorAll('.grid-body [role=row]')]
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
    .map((row) => Object.fromEntries([...row.children].map((cell, i) => [titles[i], cell.textContent])));
});

// A browser and a server for the tests of one file; both go when its tests are done.
export function setUpPages({ seed = async () => {}, ...serverOptions } = {}) {
  let browser;
  const server = new Server(serverOptions);
  before(async () => {
    [browser] = await Promise.all([launch(), server.start()]);
    await seed(server);
  });
  after(async () => {
    await browser?.close();
    await server.remove();
  });
  // Runs `body` on a fresh page and expects that the page did nothing it must not do. Pages that ask for nothing special
  // share what the browser has in its cache.
  let shared;
  async function onPage(query, { statuses, prepare, ...special }, body) {
    const own = Object.keys(special).length > 0;
    if (!own) shared ??= await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
    const page = await openPage(browser, server, query, { statuses, prepare, ...(own ? special : { shared }) });
    try {
      await body(page);
      assert.deepEqual(page.problems, []);
    } finally {
      await (own ? page.context() : page).close();
    }
  }
  return { server, onPage, browser: () => browser };
}
