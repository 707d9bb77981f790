// What tests of the pages need: a real server with known profiles, and a page that reports its own misbehaviour.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { launch, vesta } from './harness.mjs';

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

// A `vesta server`, or with `role` another command that serves. Its data are in a folder that goes with it.
export class Server {
  constructor({ role = 'server', options = [] } = {}) {
    this.role = role;
    this.options = options;
    this.folder = mkdtempSync(join(tmpdir(), 'vesta-pages-'));
  }

  async start() {
    this.port ??= await freePort();
    this.url = `http://127.0.0.1:${this.port}`;
    this.log = join(this.folder, 'log');
    const log = openSync(this.log, 'a');
    this.process = spawn(vesta, [this.role, '--data', join(this.folder, 'data'), '--http', `127.0.0.1:${this.port}`, '--grpc', '',
      '--otlp-http', '', ...this.options], { stdio: ['ignore', log, log] });
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

  // A profile of folded stacks that begins `ago` seconds before now.
  async send(folded, { service, labels = {}, ago = 60, type = 'cpu' }) {
    const parameters = new URLSearchParams({ service_name: service, time: `${(Date.now() / 1000 - ago).toFixed(0)}`, type, format: 'folded' });
    for (const [name, value] of Object.entries(labels)) parameters.append('labels', `${name}=${value}`);
    const answer = await fetch(`${this.url}/api/v1/profiles?${parameters}`, { method: 'POST', body: folded });
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
// request to elsewhere; a test ends with expecting none.
export async function openPage(browser, server, query = '', { width = 1440, height = 900, theme = 'light', path = '/', ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, reducedMotion: 'reduce', colorScheme: theme, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.problems.push(`console: ${message.text()}`);
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
  await page.goto(server.url + path + query);
  await page.waitForSelector('main > *');
  return page;
}

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
  // Runs `body` on a fresh page and expects that the page did nothing it must not do.
  async function onPage(query, options, body) {
    const page = await openPage(browser, server, query, options);
    try {
      await body(page);
      assert.deepEqual(page.problems, []);
    } finally {
      await page.context().close();
    }
  }
  return { server, onPage, browser: () => browser };
}
