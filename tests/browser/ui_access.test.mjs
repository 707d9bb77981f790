// The pages for those who do not see them, do not use a mouse, or see little: axe on every view, the way to a regression
// by keys alone, and what a screen reader is told.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { detailsOf, eventually, focusedBar, openFlame, openPage, Server, setUpPages, stateOf } from './pages.mjs';
import { pprofOf } from './pprof.mjs';
import { shop, shopNext, small } from './profiles.mjs';

async function seed(server) {
  for (let ago = 57.5; ago > 0; ago -= 5) {
    const version = ago > 30 ? '1.0' : '1.1';
    await server.send(ago > 30 ? shop : shopNext, { service: 'checkout', labels: { version, 'host.name': 'web-1' }, ago: ago * 60 });
    await server.send(small, { service: 'search', labels: { version: '7', 'host.name': 'web-2' }, ago: ago * 60 });
  }
  const places = { leaf: ['/build/shop/price.cc', 30], yield: ['/build/shop/price.cc', 42], inner: ['/elsewhere/other.cc', 7] };
  const lines = pprofOf(small, (name) => ({ binary: '/usr/bin/priced', file: places[name]?.[0], line: places[name]?.[1] }));
  await server.send(lines, { service: 'priced', format: 'pprof' });
}
// Sources that the server may read.
function config(folder) {
  mkdirSync(`${folder}/src`, { recursive: true });
  writeFileSync(`${folder}/src/price.cc`, Array.from({ length: 60 }, (_, line) => `  total += rule(${line}); // a line of text`).join('\n'));
  return `server:\n  sources:\n    - prefix: /build/shop\n      folder: ${folder}/src\n`;
}
const { server, onPage, browser } = setUpPages({ seed, config });
const others = [];
after(async () => { for (const other of others) await other.remove(); });

const checkout = 'cpu{service_name="checkout"}';
const query = (more = {}) => `?${new URLSearchParams({ view: 'explore', query: checkout, ...more })}`;
const comparison = (more = {}) => query({ view: 'diff', from: 'now-30m', baseline: 1, base_from: 'now-1h', base_to: 'now-30m', ...more });
const priced = (more = {}) => query({ view: 'source', query: 'cpu{service_name="priced"}', ...more });
const button = (page, name) => page.getByRole('button', { name, exact: true });

// --- axe

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
// Contrast, which takes longest to tell, goes by theme alone: once for each is enough.
const looks = [['light', 1440, true], ['dark', 900, true], ['dark', 1440, false], ['light', 900, false]];

async function violations(page, contrast) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const result = await page.evaluate((enabled) => axe.run({
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'], rules: { 'color-contrast': { enabled } },
  }), contrast);
  return result.violations.map(({ id, nodes }) => [id, nodes.map((node) => `${node.target.join(' ')} ${node.html.slice(0, 120)} ${
    [...node.any, ...node.all, ...node.none].map((check) => check.message).join('; ').slice(0, 200)}`)]);
}

// [name, address, what to wait for, what to open before looking]. What closes when the window changes is opened again.
const opened = 'dialog[open], [role=menu], .flame-list, .selector-list:not([hidden]), .popover-box:not([hidden])';
const grid = (page) => page.locator('.grid-body [role=row]').first().waitFor();
const menu = (page) => page.getByRole('menu').waitFor();
const views = [
  ['services', '', (page) => page.getByRole('row', { name: /checkout/ }).waitFor()],
  ['services without a match', '?filter=zzz', (page) => page.getByText('No service matches').waitFor()],
  ['explore', query({ by: 'version' }), openFlame],
  ['explore, searched and zoomed', query({ search: 'Hash', zoom: 'checkout', step: 'ignore:^nothing$' }), openFlame],
  ['table', query({ pane: 'table' }), grid],
  ['tree', query({ pane: 'tree' }), grid],
  ['both', query({ pane: 'both' }), async (page) => { await openFlame(page); await grid(page); }],
  ['inverted, by self share', query({ inverted: 1, color: 'self' }), openFlame],
  ['sandwich', query({ sandwich: 'memcmp' }), (page) => page.locator('.flame-sandwich').waitFor()],
  ['comparison', comparison(), async (page) => { await openFlame(page); await page.locator('.diff-summary').waitFor(); }],
  ['comparison as table', comparison({ pane: 'table' }), grid],
  ['comparison as tree', comparison({ pane: 'tree' }), grid],
  ['comparison as both', comparison({ pane: 'both', scale: 'normalized' }), async (page) => { await openFlame(page); await grid(page); }],
  ['comparison of nothing', '?view=diff', (page) => page.getByText('Nothing to compare yet').waitFor()],
  ['heat map', query({ view: 'heatmap' }), (page) => page.locator('.heatmap-canvas').waitFor()],
  ['heat map without times', query({ view: 'heatmap', heatmap: 'offset' }), (page) => page.locator('.notice').waitFor()],
  ['targets', query({ view: 'targets' }), (page) => page.locator('.targets-table').first().waitFor()],
  ['source', priced({ source: '/build/shop/price.cc' }), (page) => page.locator('.source-text', { hasText: 'rule(29)' }).waitFor()],
  ['source that is not here', priced({ source: '/elsewhere/other.cc' }), (page) => page.locator('.source-missing').waitFor()],
  ['source to choose', priced(), (page) => page.locator('.source-files a').first().waitFor()],
  ['source without files', query({ view: 'source' }), (page) => page.getByText('Which file?').waitFor()],
  ['no data', query({ query: 'cpu{service_name="nobody"}' }), (page) => page.locator('.notice').waitFor()],
  ['a wrong selector', query({ query: 'cpu{a=}' }), (page) => page.locator('.selector-error').waitFor()],
  ['files', '', (page) => button(page, 'Open file').waitFor(), async (page) => {
    await button(page, 'Open file').click();
    await page.getByRole('dialog', { name: 'Open file' }).waitFor();
  }],
  ['palette', query(), openFlame, async (page) => {
    await page.keyboard.press('Control+k');
    await page.locator('.palette-list [role=option]').first().waitFor();
  }],
  ['help', query(), openFlame, async (page) => {
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and commands' }).waitFor();
  }],
  ['share menu', query(), openFlame, async (page) => { await button(page, 'Share').click(); await menu(page); }],
  ['menu of a frame', query(), openFlame, async (page) => {
    await page.locator('.flame-host').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+F10');
    await menu(page);
  }],
  ['choosing a range', query({ pane: 'table' }), grid, async (page) => {
    await page.keyboard.press('t');
    await page.locator('.range-form').first().waitFor();
  }],
  ['suggestions', query({ pane: 'table' }), grid, async (page) => {
    await page.getByRole('combobox', { name: 'Selector' }).fill('cpu{');
    await page.locator('.selector-list [role=option]').first().waitFor();
  }],
  ['list of matches', query({ search: 'rocksdb' }), openFlame, async (page) => {
    await button(page, 'List').click();
    await page.getByRole('dialog').waitFor();
  }],
];

const refusal = (status) => (page) => page.route(/api\/v1\/(services|flame|coverage|totals)\b/, (route) =>
  route.fulfill({ status, json: { code: 'x', message: 'it is so' } }));
for (const status of [401, 403, 500, 504]) {
  views.push([`an answer of ${status}`, status === 500 ? '' : query(),
    (page) => (status === 401 ? page.getByRole('dialog').waitFor() : page.locator('.notice').first().waitFor()), undefined, refusal(status)]);
}

// Two at a time: one page computes while the other waits for the server.
async function inPairs(list, body) {
  const rest = [...list];
  await Promise.all([1, 2].map(async () => {
    for (let next = rest.shift(); next; next = rest.shift()) await body(next);
  }));
}

// First: it compares the last half hour, which has moved on when slow tests are done.
test('the regression is found by keyboard alone', () => onPage('', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.getByRole('row', { name: /checkout/ }).waitFor();
  await press(page, '/');
  await page.keyboard.type('check');
  await eventually(async () => assert.equal(await page.locator('.services-rows [role=row]').count(), 1));
  await press(page, 'ArrowDown', 'Enter');
  await openFlame(page);
  await press(page, 't');
  await page.locator('.range-form').waitFor();
  await eventually(async () => assert.match((await focus(page)).name, /Last hour/));
  await tabTo(page, /button Last 30 minutes/, 'Shift+Tab');
  await press(page, 'Enter');
  await eventually(async () => assert.equal(stateOf(page).get('from'), 'now-30m'));
  assert.equal((await focus(page)).lost, false);
  await press(page, 'Shift+C');
  await page.locator('.diff-summary').waitFor();
  assert.deepEqual([stateOf(page).get('base_from'), stateOf(page).get('base_to')], ['now-1h', 'now-30m']);
  assert.match(await page.locator('.diff-summary').textContent(), /\d+ functions changed significantly/);
  await press(page, '2');
  await grid(page);
  await tabTo(page, /^grid Functions by change/);
  await press(page, 'Home');
  const row = page.locator(`[id="${await page.locator('.grid').getAttribute('aria-activedescendant')}"]`);
  assert.match(await row.textContent(), /\+138 %.*● q < 0\.001std::_Hash_bytes/);
  await press(page, 'Shift+F10');
  await page.getByRole('menu', { name: 'std::_Hash_bytes' }).waitFor();
  await press(page, 'ArrowDown', 'ArrowDown', 'Enter'); // Sandwich
  await page.locator('.flame-sandwich').waitFor();
  await tabTo(page, /^tree Callers/);
  await press(page, 'ArrowUp');
  await eventually(async () => assert.match(await focusedBar(page), /Rule>::find|find, .*\+100 % against the baseline/));
  await press(page, 'Escape');
  await eventually(async () => assert.equal(stateOf(page).get('sandwich'), null));
  await press(page, 'y');
  await page.locator('.toast', { hasText: 'Link copied' }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /view=diff/);
}));

test('axe finds nothing on any view, light and dark, wide and narrow', async () => {
  const found = [];
  const empty = new Server();
  others.push(empty);
  await empty.start();
  const all = [...views, ['first run', '', (page) => page.locator('.first-run').waitFor(), undefined, undefined, empty]];
  await inPairs(all, async ([name, address, ready, act, prepare, from = server]) => {
    const page = await openPage(browser(), from, address, { bypassCSP: true, prepare, statuses: [400, 401, 403, 404, 500, 504] });
    try {
      await ready(page);
      for (const [theme, width, contrast] of looks) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 900 });
        await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme));
        if (act && await page.locator(opened).count() === 0) await act(page);
        for (const [rule, nodes] of await violations(page, contrast)) found.push(`${name}, ${theme}, ${width}: ${rule}\n  ${nodes.join('\n  ')}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (overflow > 0) found.push(`${name}, ${width}: the page is ${overflow} px too wide`);
      }
      if (page.problems.length > 0) found.push(`${name}: ${page.problems.join('; ')}`);
    } finally {
      await page.context().close();
    }
  });
  assert.deepEqual(found, []);
});

// --- by keys alone

// What has the focus, and that one sees it.
async function focus(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    return {
      name: element.getAttribute('aria-label') || element.textContent.slice(0, 40), role: element.getAttribute('role') || element.tagName.toLowerCase(),
      lost: element === document.body,
      seen: element.id === 'main' || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none'
        || element.closest('dialog') !== null && style.outlineStyle !== 'none',
      inside: box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
    };
  });
}
async function press(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await eventually(async () => assert.equal((await focus(page)).lost, false, `the focus is lost after ${key}`));
  }
}
// Tab until that has the focus.
async function tabTo(page, wanted, key = 'Tab') {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press(key);
    const now = await focus(page);
    if (wanted.test(`${now.role} ${now.name}`)) return;
  }
  assert.fail(`Tab does not reach ${wanted}`);
}

test('the focus is seen wherever Tab goes, and stays in sight', async () => {
  const addresses = ['', query({ by: 'version', pane: 'both', step: 'ignore:zz' }), comparison({ pane: 'table' }), query({ view: 'heatmap' }), query({ view: 'targets' })];
  await inPairs(addresses, (address) => onPage(address, { width: 1000 }, async (page) => {
    await page.waitForSelector('.services-rows [role=row], .grid-body [role=row], .heatmap-canvas, .targets-table');
    const seen = [];
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab');
      const now = await focus(page);
      if (now.lost) break; // round the whole page
      seen.push(now);
    }
    assert.ok(seen.length > 10, `${seen.length} stops`);
    assert.deepEqual(seen.filter((stop) => !stop.seen || !stop.inside), []);
    assert.deepEqual(seen.filter((stop) => stop.name.trim() === ''), []);
  }));
});

test('what goes away gives the focus on', () => onPage(query({ step: 'ignore:zz' }), {}, async (page) => {
  await openFlame(page);
  await button(page, 'Undo step').focus();
  await press(page, 'Enter'); // and with it the whole row of steps
  await eventually(async () => assert.equal(await page.locator('.steps-bar').count(), 0));
  assert.equal((await focus(page)).lost, false);
  for (const [open, close] of [['?', 'Escape'], ['Control+k', 'Escape'], ['o', 'Escape']]) {
    await page.locator('.flame-host').focus();
    await press(page, open);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press(close);
    await eventually(async () => assert.equal((await focus(page)).role, 'tree'));
  }
  await button(page, 'Share').focus();
  await press(page, 'Enter');
  await menu(page);
  await press(page, 'ArrowDown', 'End', 'Home', 'Escape');
  assert.equal((await focus(page)).name, 'Share');
  await page.getByRole('button', { name: 'Remove service_name is checkout' }).focus();
  await press(page, 'Enter');
  await eventually(async () => assert.equal(stateOf(page).get('query'), 'cpu{}'));
  await eventually(async () => assert.equal((await focus(page)).lost, false));
}));

test('a command is found by its name and run', () => onPage(query(), {}, async (page) => {
  await openFlame(page);
  await press(page, 'Control+k');
  await page.getByRole('combobox', { name: 'Find a command' }).waitFor();
  await page.keyboard.type('call tree');
  await press(page, 'Enter');
  await page.getByRole('treegrid').waitFor();
  assert.equal(stateOf(page).get('pane'), 'tree');
}));

// --- what is said

const functions = new Set((shop + shopNext).match(/[^;\n]+(?=;| \d+\n)/g).map((name) => name.replace(/_\[[ki]\]$/, '')));

// Two hours: what was sent as almost an hour old may be older than that by now.
test('the flame graph is announced as a tree', () => onPage(query({ query: 'cpu{service_name="search"}', from: 'now-2h' }), {}, async (page) => {
  await openFlame(page);
  const tree = page.getByRole('tree', { name: 'Flame graph' });
  await tree.focus();
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowRight');
  assert.match(await focusedBar(page), /^yield, 4\.80 s, 40\.0 %$/); // 12 × 40 × 10 ms
  const item = tree.locator('[aria-selected=true]');
  assert.deepEqual(await item.evaluate((one) => [one.role, one.ariaLevel, one.ariaPosInSet, one.ariaSetSize, one.ariaExpanded]),
    ['treeitem', '3', '2', '2', null]);
  await press(page, 'ArrowLeft');
  assert.deepEqual(await item.evaluate((one) => [one.ariaLevel, one.ariaPosInSet, one.ariaSetSize, one.ariaExpanded]), ['3', '1', '2', 'true']);
  assert.equal(await tree.ariaSnapshot(), `- tree "Flame graph":
  - treeitem "main, 12 s, 100 %" [expanded] [level=2]
  - treeitem "work, 7.20 s, 60.0 %" [expanded] [level=3] [selected]
  - treeitem "inner, 6 s, 50.0 %" [level=4]
  - treeitem "yield, 4.80 s, 40.0 %" [level=3]`);
  assert.equal((await detailsOf(page)).name, 'work');
}));

test('table and tree say their order, levels and places', () => onPage(query({ pane: 'table' }), {}, async (page) => {
  await grid(page);
  const table = page.getByRole('grid', { name: 'Functions by weight' });
  assert.equal(await page.getByRole('columnheader', { name: 'Self', exact: true }).getAttribute('aria-sort'), 'descending');
  await page.getByRole('button', { name: 'Total', exact: true }).press('Enter');
  await eventually(async () => assert.equal(await page.getByRole('columnheader', { name: 'Total', exact: true }).getAttribute('aria-sort'), 'descending'));
  await table.focus();
  await press(page, 'ArrowDown', 'ArrowDown');
  const current = await table.getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`[id="${current}"]`).getAttribute('aria-rowindex'), '3');
  assert.equal(Number(await table.getAttribute('aria-rowcount')), functions.size + 1);
  await press(page, '3');
  const tree = page.getByRole('treegrid', { name: 'Call tree' });
  await tree.waitFor();
  await tree.focus();
  await press(page, 'Home');
  const first = page.locator('.grid-body [role=row]').first();
  await eventually(async () => assert.equal(await first.getAttribute('aria-level'), '1'));
  assert.equal(await first.getAttribute('aria-expanded'), 'true');
  await press(page, 'ArrowLeft');
  await eventually(async () => assert.equal(await first.getAttribute('aria-expanded'), 'false'));
}));
