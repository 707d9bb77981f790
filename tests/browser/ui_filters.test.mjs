// Parts of the whole: regions of heat maps, spans, labels as roots, and what a flame graph had to leave out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailsOf, eventually, focusedBar, openFlame, setUpPages, stateOf } from './pages.mjs';
import { pprofOf } from './pprof.mjs';
import { makeLarge } from './profiles.mjs';

const minute = 60_000;
const end = Math.floor(Date.now() / minute) * minute;
const begin = end - 60 * minute;
const spanId = '00000000000000ab';

async function seed(server) {
  const sent = [];
  // Every third minute is a burst: five seconds instead of one.
  for (let i = 0; i < 60; ++i) {
    const burst = i % 3 === 0;
    const profile = burst ? 'main;serve 100\nmain;compact 400\n' : 'main;serve 100\n';
    sent.push(server.send(profile, { service: 'bursts', labels: { pod: burst ? 'b' : 'a' }, at: begin + i * minute + 5000 }));
  }
  const traced = pprofOf('main;handle;read 30\nmain;handle;write 20\nmain;idle 50\n', () => ({}),
    { labels: (stack) => (stack.includes('read') ? { span_id: spanId, trace_id: spanId.repeat(2) } : { thread: 'other' }) });
  for (let i = 0; i < 4; ++i) sent.push(server.send(traced, { service: 'traced', format: 'pprof', at: begin + 12 * i * minute }));
  for (const at of [begin - 30 * minute, begin + 30 * minute]) sent.push(server.send(makeLarge(20_000), { service: 'large', at }));
  await Promise.all(sent);
}
const { onPage } = setUpPages({ seed });
const query = (service, more = {}) =>
  `?${new URLSearchParams({ view: 'explore', query: `cpu{service_name="${service}"}`, from: begin, to: end, ...more })}`;
const button = (page, name) => page.getByRole('button', { name, exact: true });

// From one place of the map to another, in shares of its size from the left and from the top.
async function dragOver(page, from, to) {
  const box = await page.locator('.heatmap-canvas').boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to));
  await page.mouse.up();
}

test('a region of a heat map is a flame graph, two are a comparison', () => onPage(query('bursts', { view: 'heatmap' }), {}, async (page) => {
  await page.locator('.heatmap-canvas').waitFor();
  await dragOver(page, [0.15, 0.3], [0.95, 0.01]);
  await page.getByText(/^Region: /).waitFor();
  await page.keyboard.down('Shift');
  await dragOver(page, [0.15, 0.7], [0.95, 0.99]);
  await page.keyboard.up('Shift');
  await page.getByText(/^Baseline: /).waitFor();
  await button(page, 'Compare').click();
  await openFlame(page);
  const state = stateOf(page);
  assert.equal(state.get('view'), 'diff');
  assert.ok(Number(state.get('value_min')) > 1e9 && Number(state.get('base_value_max')) < 5e9, String(state));
  await page.locator('.flame-host').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await eventually(async () => assert.match(await focusedBar(page), /^compact, /));
  await page.goBack();
  // The region is gone with the view: it is drawn again, this time for itself.
  await page.locator('.heatmap-canvas').waitFor();
  await dragOver(page, [0.15, 0.3], [0.95, 0.01]);
  await button(page, 'Flame graph of this').click();
  await openFlame(page);
  // At most 20 bursts of 5 s, and nothing else: a fifth of each is serve.
  await eventually(async () => assert.match((await detailsOf(page)).total, /^1\.\d+ min$/));
  await page.locator('.flame-host').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await eventually(async () => assert.match(await focusedBar(page), /^compact, .* 80\.0 %/));
}));

test('a label can be the root', () => onPage(query('bursts'), {}, async (page) => {
  await openFlame(page);
  await page.getByRole('combobox', { name: /^Root/ }).selectOption('pod');
  await eventually(async () => assert.equal(stateOf(page).get('root'), 'pod'));
  await page.locator('.flame-host').focus();
  // 20 × 5 s in b, 40 × 1 s in a. The graph from before may still be there for the first tries.
  await eventually(async () => {
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
    assert.equal(await focusedBar(page), 'pod=b, 1.67 min, 71.4 %');
  });
  await page.keyboard.press('ArrowLeft');
  await eventually(async () => assert.equal(await focusedBar(page), 'pod=a, 40 s, 28.6 %'));
}));

test('a span narrows graph and chart alike', () => onPage(query('traced'), {}, async (page) => {
  await openFlame(page);
  assert.equal((await detailsOf(page)).total, '4 s');
  await page.getByText('Trace, span and sample labels').click();
  const chart = page.waitForResponse((answer) => answer.url().includes('/totals?') && answer.url().includes(`span_id=${spanId}`));
  await page.getByLabel('Span id').fill(spanId);
  await page.getByLabel('Span id').press('Enter');
  const { series } = await (await chart).json();
  assert.deepEqual(series.map((one) => one.total), [4 * 30 * 1e7]);
  await eventually(async () => assert.equal((await detailsOf(page)).total, '1.20 s'));
  await button(page, 'Clear').click();
  await eventually(async () => assert.equal((await detailsOf(page)).total, '4 s'));
  await page.getByLabel('Sample labels').fill('{thread="other"}');
  await page.getByLabel('Sample labels').press('Enter');
  await eventually(async () => assert.equal((await detailsOf(page)).total, '2.80 s'));
}));

test('the chart shows what a focus leaves', () => onPage(query('bursts', { step: 'focus:compact' }), {
  prepare: (page) => {
    page.chart = page.waitForResponse((answer) => answer.url().includes('/totals?') && answer.url().includes('focus=compact'));
  },
}, async (page) => {
  const { series } = await (await page.chart).json();
  assert.deepEqual(series.map((one) => one.total), [20 * 400 * 1e7]);
  await openFlame(page);
  assert.equal((await detailsOf(page)).total, '1.33 min');
}));

for (const [what, more] of [['recursion collapsed', { recursion: 1 }], ['an inverted comparison', {
  view: 'diff', baseline: 1, base_from: begin - 60 * minute, base_to: begin, inverted: 1 }]]) {
  test(`with ${what}, zooming brings what was cut`, () => onPage(query('large', { nodes: 300, ...more }), {}, async (page) => {
    await openFlame(page);
    const badge = page.locator('.flame-badges');
    await badge.getByText(/nodes shown/).waitFor();
    await page.locator('.flame-host').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.ok(Number(stateOf(page).get('nodes')) >= 20_000, String(stateOf(page))));
    await eventually(async () => assert.match(await badge.textContent(), /[\d,]+ nodes( ·|$)/));
    assert.equal(stateOf(page).getAll('zoom').length, 1);
    // A link to the place, from before more was there, fetches it as well.
    const early = new URL(page.url());
    early.searchParams.set('nodes', '300');
    await page.goto(early.href);
    await eventually(async () => assert.ok(Number(stateOf(page).get('nodes')) >= 20_000, String(stateOf(page))));
  }));
}

test('a sandwich brings what was cut', () => onPage(query('large', { nodes: 300 }), {}, async (page) => {
  await openFlame(page);
  await page.locator('.flame-host').focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('s');
  await page.locator('.flame-sandwich').waitFor();
  await page.getByRole('tree', { name: 'Callees' }).click({ position: { x: 200, y: 30 } });
  await eventually(async () => assert.ok(Number(stateOf(page).get('nodes')) >= 20_000, String(stateOf(page))));
  await openFlame(page);
  await page.locator('.flame-sandwich').waitFor();
}));
