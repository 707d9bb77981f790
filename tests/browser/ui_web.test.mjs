// `vesta web`: the web UI on files, without a server that was there before.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, vesta } from './harness.mjs';
import { shop, shopNext, small } from './profiles.mjs';

let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'vesta-web-test-'));
});
after(async () => {
  await browser?.close();
  if (folder) rmSync(folder, { recursive: true });
});

const file = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

// Runs the command, hands its address to `look`, and ends it as Ctrl-C does.
async function onWeb(words, input, look) {
  const scratch = mkdtempSync(join(folder, 'scratch-'));
  const child = spawn(vesta, ['web', '--no-browser', ...words], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: scratch },
  });
  const ended = new Promise((done) => child.once('exit', (code) => done(code)));
  try {
    child.stdin.end(input ?? '');
    let said = '';
    child.stderr.on('data', (chunk) => { said += chunk; });
    const url = await new Promise((done, failed) => {
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('\n')) done(text.trim());
      });
      child.once('exit', () => failed(new Error(`it ended: ${said}`)));
    });
    const page = await browser.newPage();
    await page.goto(url);
    await look(page, url);
    await page.close();
  } finally {
    child.kill('SIGINT');
  }
  assert.equal(await ended, 0);
  assert.deepEqual(readdirSync(scratch), [], 'nothing is left behind');
}

test('a file is shown as a flame graph, on this machine alone', () =>
  onWeb([file('small.folded', small)], null, async (page, url) => {
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\//);
    await page.locator('.files-bar').getByText('small.folded').waitFor();
    await page.locator('canvas').first().waitFor();
    const search = new URL(page.url()).searchParams;
    assert.equal(search.get('view'), 'explore');
    assert.ok(search.get('file'));
    await page.goto(`${page.url()}&pane=table`);
    await page.getByText('inner', { exact: true }).first().waitFor();
  }));

test('standard input, beside a second file', () =>
  onWeb(['-', file('other.folded', shop)], small, async (page) => {
    await page.locator('.files-bar').getByText('standard input').waitFor();
    await page.getByRole('button', { name: 'Open file', exact: true }).click();
    await page.locator('.files-list').getByText('other.folded').waitFor();
  }));

test('two files are compared', () =>
  onWeb(['-diff_base', file('before.folded', shop), file('after.folded', shopNext)], null, async (page) => {
    const search = new URL(page.url()).searchParams;
    assert.equal(search.get('view'), 'diff');
    await page.locator('canvas').first().waitFor();
    await page.getByText('after.folded').first().waitFor();
    assert.notEqual(search.get('file'), search.get('base_file'));
    assert.equal(await page.getByRole('alert').count(), 0);
  }));

test('a file that cannot be read is an error, and nothing is served', async () => {
  const child = spawn(vesta, ['web', '--no-browser', file('letter.txt', 'Dear all,\n')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => { said += chunk; });
  assert.equal(await new Promise((done) => child.once('exit', done)), 1);
  assert.match(said, /letter\.txt/);
});
