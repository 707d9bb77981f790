// Opening files takes a while: what is shown meanwhile, how it is stopped, and what the server says when it refuses. And
// why a service has no data yet.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, setUpPages } from './pages.mjs';
import { small } from './profiles.mjs';

const { onPage } = setUpPages({ seed: (server) => server.send(small, { service: 'web' }) });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const file = (name, text) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });

async function choose(page, files) {
  await button(page, 'Open file').click();
  const chooser = page.waitForEvent('filechooser');
  await button(page, 'Choose files').click();
  await (await chooser).setFiles(files);
}
// Requests wait until the test lets them go.
async function holdUploads(page) {
  const held = [];
  await page.route(/api\/v1\/files\?/, (route) => {
    if (route.request().method() === 'POST') held.push(route);
    else route.continue();
  });
  return held;
}

test('a file on its way is shown in the dialog, and can be cancelled', () => onPage('', {}, async (page) => {
  const held = await holdUploads(page);
  await choose(page, file('slow.folded', small));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('slow.folded').waitFor();
  assert.equal(await dialog.locator('progress').count(), 1);
  await eventually(() => assert.equal(held.length, 1));
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/v1/files?'));
  await button(page, 'Cancel').click();
  await ended; // the connection is closed, by which the server knows
  await button(page, 'Choose files').waitFor();
  await page.getByText('Cancelled').waitFor();
  assert.equal(await page.locator('progress').count(), 0);
  assert.equal(await dialog.getByRole('alert').count(), 0);
  // It works again afterwards.
  await page.unroute(/api\/v1\/files\?/);
  const chooser = page.waitForEvent('filechooser');
  await button(page, 'Choose files').click();
  await (await chooser).setFiles(file('slow.folded', small));
  await eventually(async () => assert.match(await page.locator('.files-bar').textContent(), /slow\.folded/));
}));

test('a dropped file is shown over the page, and can be cancelled', () => onPage('', {}, async (page) => {
  await holdUploads(page);
  await page.getByRole('heading', { name: 'Services' }).waitFor();
  const transfer = await page.evaluateHandle((text) => {
    const made = new DataTransfer();
    made.items.add(new File([text], 'dropped.folded'));
    return made;
  }, small);
  for (const type of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer });
  await page.locator('.shell-opening').getByText('dropped.folded').waitFor();
  await button(page, 'Cancel').click();
  await eventually(async () => assert.equal(await page.locator('.shell-opening').count(), 0));
}));

test('what the server says of a file is shown as it is, with the hint', () =>
  onPage('', { statuses: [400, 429] }, async (page) => {
    const answers = [
      [400, 'invalid_argument', 'the file is a perf.data file, which is not read; run perf script and open what it prints'],
      [429, 'resource_exhausted', 'other files are being read; try again in a moment'],
    ];
    await page.route(/api\/v1\/files\?/, (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const [status, code, message] = answers.shift();
      return route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ code, message }) });
    });
    await choose(page, [file('perf.data', 'PERFILE2'), file('b.folded', small)]);
    const alert = page.getByRole('dialog').getByRole('alert');
    await eventually(async () => {
      const said = await alert.locator('p').allTextContents();
      assert.equal(said.length, 2);
      assert.match(said[0], /perf\.data: the file is a perf\.data file, which is not read ?run perf script and open what it prints/);
      assert.match(said[1], /b\.folded: other files are being read ?try again in a moment/);
    });
    assert.equal(await alert.locator('.files-hint').first().textContent(), 'run perf script and open what it prints');
  }));

test('a first reading that is only a baseline is named where its service would be', () => {
  const baselines = [
    { service_name: 'shop', profile: 'mutex', count: 1, last_ns: Date.now() * 1e6 },
    { service_name: 'web', profile: 'process_cpu', count: 2, last_ns: Date.now() * 1e6 },
  ];
  const prepare = (page) => page.route(/api\/v1\/services\?/, async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...await response.json(), baselines } });
  });
  return onPage('', { prepare }, async (page) => {
    const notes = page.getByRole('region', { name: 'Baselines' });
    await eventually(async () => assert.match(await notes.textContent(),
      /^shop: 1 first mutex reading kept as a baseline, not stored; the next one is stored as a difference/));
    assert.equal(await notes.locator('p').count(), 1); // web has data of that type
  });
});
