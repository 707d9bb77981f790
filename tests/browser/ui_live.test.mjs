// The pages on a host that profiles itself: a victim is found while it runs, and nothing is lost when the server goes away
// and comes back.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { skip } from './harness.mjs';
import { detailsOf, eventually, openFlame, rowsOf, searchFor, setUpPages, stateOf } from './pages.mjs';

if (process.getuid() !== 0) skip('sampling needs root');

const { server, onPage } = setUpPages({ role: 'up', options: ['--window', '1s', '--metrics', ''] });
let victim;
before(() => {
  const program = join(server.folder, 'shares');
  const source = fileURLToPath(new URL('../programs/cpu/shares.c', import.meta.url));
  execFileSync('gcc', ['-O2', '-g', '-fomit-frame-pointer', '-Wl,--build-id=sha1', source, '-o', program]);
  victim = spawn(program, { stdio: 'ignore' });
});
after(() => victim?.kill('SIGKILL'));

test('the victim is among the services, and its hot function in its flame graph and table', () =>
  onPage('?refresh=5&from=now-5m', {}, async (page) => {
    const row = page.getByRole('row', { name: /^shares\b/ }).first();
    await row.waitFor();
    await row.click();
    await openFlame(page);
    assert.match(stateOf(page).get('query'), /service_name="shares"/);
    await searchFor(page, '/^heavy$/');
    await eventually(async () => assert.equal((await detailsOf(page)).name, 'heavy'));
    // Six slots of ten, with the spinning in it; as many samples as there are by now.
    await eventually(async () => {
      const share = Number.parseFloat((await detailsOf(page))['of all']);
      assert.ok(share > 45 && share < 75, `${share} %`);
    });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('.flame-host').focus();
    await page.keyboard.press('2');
    await eventually(async () => {
      const rows = await rowsOf(page);
      assert.equal(rows[0].Function, 'spin');
      const shares = ['heavy', 'medium', 'light'].map((name) => Number.parseFloat(rows.find((one) => one.Function === name)['Total %']));
      assert.ok(shares[0] > shares[1] && shares[1] > shares[2], shares.join(' '));
    });
  }));

test('targets show the agent of this process at work', () => onPage('?view=targets&refresh=5', {}, async (page) => {
  await page.getByRole('heading', { name: 'The agent of this process' }).waitFor();
  await eventually(async () => assert.match(await page.locator('.targets-figures').first().textContent(), /Sampling rate\d+ Hz/));
  await page.locator('.targets-table').first().waitFor();
}));

// The browser itself says that it could not connect; the pages must say nothing beside it.
test('a server that goes away leaves everything as it was, and is taken up again', () =>
  onPage(`?${new URLSearchParams({ view: 'explore', query: 'cpu{service_name="shares"}', from: 'now-5m', refresh: 5, search: 'heavy', pane: 'both' })}`, {},
    async (page) => {
      await openFlame(page);
      await eventually(async () => assert.ok((await rowsOf(page)).some((row) => row.Function === 'heavy')));
      const total = () => page.locator('.explore-coverage > summary').textContent();
      const first = await total();
      // Live: the number grows by itself.
      await eventually(async () => assert.notEqual(await total(), first));
      const address = page.url();
      await server.stop('SIGKILL');
      await page.locator('.banner').waitFor();
      assert.match(await page.locator('.banner').textContent(), /server is not responding/);
      assert.equal(page.url(), address);
      assert.equal(await page.locator('.flame-search input').inputValue(), 'heavy');
      assert.ok(await page.locator('.flame-canvas').first().isVisible());
      assert.ok((await rowsOf(page)).some((row) => row.Function === 'heavy'));
      // What is set while it is away is not lost either.
      await page.getByRole('button', { name: 'Inverted' }).click();
      await server.start();
      await page.locator('.banner').waitFor({ state: 'detached' });
      await openFlame(page);
      assert.equal(stateOf(page).get('inverted'), '1');
      assert.equal(stateOf(page).get('search'), 'heavy');
      await eventually(async () => assert.ok((await rowsOf(page)).some((row) => row.Function === 'heavy')));
      const again = await total();
      await eventually(async () => assert.notEqual(await total(), again));
      page.problems = page.problems.filter((problem) => !/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE/.test(problem));
    }));
