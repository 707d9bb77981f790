// Every number that people see is true: charts, averages, changes and comparisons, on data of which each is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailsOf, eventually, openFlame, rowsOf, setUpPages, stateOf } from './pages.mjs';
import { pprofOf } from './pprof.mjs';

const minute = 60_000;
const end = Math.floor(Date.now() / 1000) * 1000;

// One profile of 60 s for each pod and minute in [from, to) minutes ago, with `seconds` of CPU time each, of 10 ms a sample.
function minutes(server, service, { from, to = 0, pods = 1, version, stacks }) {
  const profile = pprofOf(stacks, (name) => ({ file: `${name}.c`, line: 1 }), { seconds: 60, counted: true });
  const sent = [];
  for (let ago = from; ago > to; ago--) {
    for (let pod = 0; pod < pods; pod++) {
      const labels = { pod: `${service}-${pod}`, ...(version ? { version } : {}) };
      sent.push(() => server.send(profile, { service, labels, at: end - ago * minute, format: 'pprof' }));
    }
  }
  return sent;
}
const cpu = (seconds) => `main;serve ${Math.round(seconds * 70)}\nmain;serve;hash ${Math.round(seconds * 30)}`;

async function seed(server) {
  const sends = [
    // 2.6 cores: three pods of 52 s in 60 s.
    ...minutes(server, 'steady', { from: 60, pods: 3, stacks: cpu(52) }),
    ...minutes(server, 'young', { from: 8, stacks: cpu(30) }),
    // Half an hour at 0.5 cores in the hour before, ten minutes at 0.75 in this one.
    ...minutes(server, 'grew', { from: 110, to: 80, stacks: cpu(30) }),
    ...minutes(server, 'grew', { from: 10, stacks: cpu(45) }),
    ...minutes(server, 'ended', { from: 100, to: 20, stacks: cpu(30) }),
    ...minutes(server, 'scarce', { from: 3, to: 2, stacks: 'main;rare 7\nmain;other 5' }),
    // The next release takes 28 % more per pod, by a path of its own; it has run for longer than the one before in this hour.
    ...minutes(server, 'checkout', { from: 60, to: 37, pods: 3, version: '2.4.0', stacks: cpu(50) }),
    ...minutes(server, 'checkout', { from: 34, pods: 3, version: '2.5.0', stacks: `${cpu(50)}\nmain;quote;compile 1400` }),
  ];
  for (let i = 0; i < sends.length; i += 12) await Promise.all(sends.slice(i, i + 12).map((send) => send()));
}
const { onPage } = setUpPages({ seed });

const hour = { from: end - 60 * minute, to: end };
const explore = (service, more = {}) => `?${new URLSearchParams({ view: 'explore', query: `cpu{service_name="${service}"}`, ...hour, ...more })}`;
const cores = (text) => {
  const found = /^([\d.]+) cores$/.exec(text);
  return found ? Number(found[1]) : null; // null: no data
};
// The chart as its table says it: what is drawn, bucket by bucket, the sum of all series.
async function chartOf(page) {
  await page.locator('.explore-summary > summary').click();
  await page.locator('.explore-numbers tbody tr').first().waitFor();
  return page.locator('.explore-numbers tbody tr').evaluateAll((rows) => rows.map((row) =>
    [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
}
const summary = (page) => page.locator('.explore-coverage > summary').textContent();
const serviceRow = (page, name) => page.locator('.services-rows [role=row]', { has: page.getByText(name, { exact: true }) });

test('a chart shows as many cores as were used, without gaps, however long profiles are', () => onPage(explore('steady'), {}, async (page) => {
  const values = (await chartOf(page)).map(([text]) => cores(text));
  assert.ok(values.length >= 60, `${values.length} buckets`);
  assert.ok(values.every((value) => value !== null), 'a gap');
  for (const value of values) assert.ok(Math.abs(value - 2.6) < 0.05, `${value} cores`);
  assert.match(await page.locator('.explore-summary > summary').textContent(), /^2\.60 cores on average, peak 2\.60 cores/);
  assert.match(await summary(page), /^2\.60 cores on average over (1 h|60 min) of data · 3 instances · 936,000 samples from 180 profiles/);
  assert.equal(await page.locator('.warning').count(), 0);
}));

test('a heat map has a profile in every column that it covers, at its rate', () => onPage(explore('checkout', { view: 'heatmap' }), {}, async (page) => {
  await page.locator('.heatmap-canvas').waitFor();
  const readout = () => page.locator('.heatmap-readout').textContent();
  await page.locator('.heatmap-box').focus();
  for (const key of ['Home', 'End', 'PageUp']) await page.keyboard.press(key);
  // Three pods of 64 s in 60 s, in columns of 15 s; times in whole seconds are stored some microseconds later.
  for (let i = 0; i < 9; i++) {
    await eventually(async () => assert.match(await readout(), / to 1\.07 cores: 48(\.0)? s$/));
    const before = await readout();
    await page.keyboard.press('ArrowLeft');
    await eventually(async () => assert.notEqual(await readout(), before));
  }
}));

test('a region of a heat map has the weight that is drawn', () => onPage(explore('checkout', { view: 'heatmap' }), {}, async (page) => {
  await page.locator('.heatmap-canvas').waitFor();
  const box = await page.locator('.heatmap-canvas').boundingBox();
  // The upper half, which is the next release alone; both ends lie within profiles.
  await page.mouse.move(box.x + 0.71 * box.width, box.y + 0.3 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.87 * box.width, box.y + 0.01 * box.height);
  await page.mouse.up();
  const region = await page.getByText(/^Region: /).textContent();
  const weight = /: ([\d.]+ \S+)$/.exec(region)[1];
  await page.getByRole('button', { name: 'Flame graph of this', exact: true }).click();
  await openFlame(page);
  assert.ok(Number(stateOf(page).get('rate_min')) > 0.84e9, stateOf(page).toString());
  await eventually(async () => assert.equal((await detailsOf(page)).total, weight));
  assert.match(await page.locator('main').textContent(), /Only profiles of 0\.\d+ cores or more/);
}));

test('a chart by version does not stack both during a deploy', () => onPage(explore('checkout', { by: 'version' }), {}, async (page) => {
  for (const values of await chartOf(page)) {
    const sum = values.map(cores).reduce((all, value) => all + (value ?? 0), 0);
    assert.ok(sum < 3.3, `${values} are ${sum} cores`);
  }
}));

test('averages are of the time that has data: eight minutes of an hour', async () => {
  await onPage(explore('young'), {}, async (page) => {
    await eventually(async () => assert.match(await summary(page), /^0\.50 cores on average over 8 min of data \(of 1 h\) · 1 instance · 24,000 samples from 8 profiles/));
    assert.match(await page.locator('.explore-summary > summary').textContent(), /^0\.50 cores on average/);
    const values = (await chartOf(page)).map(([text]) => cores(text)).filter((value) => value !== null);
    for (const value of values) assert.ok(Math.abs(value - 0.5) < 0.02, `${value} cores`);
  });
  await onPage(`?${new URLSearchParams({ ...hour, type: 'cpu' })}`, {}, async (page) => {
    await serviceRow(page, 'young').waitFor();
    const text = async (name) => (await serviceRow(page, name).textContent()).replace(name, '');
    assert.match(await text('young'), /^cpu0\.50 coresnew\W/);
    assert.match(await text('steady'), /2\.60 cores/);
    assert.match(await text('scarce'), /≈ 0\.002 cores/);
    assert.match(await serviceRow(page, 'young').locator('[title*="of data"]').getAttribute('title'), /^8 min of data \(of 1 h\), 2[34],\d{3} samples from 8 profiles$/);
  });
});

test('changes of services are those of rates, what is new comes last', () => onPage(`?${new URLSearchParams({ ...hour, type: 'cpu', services_sort: '-change' })}`, {}, async (page) => {
  await serviceRow(page, 'grew').waitFor();
  const rows = await page.locator('.services-rows [role=row]').evaluateAll((all) => all
    .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => [row.children[0].textContent, row.children[4].textContent.trim()]));
  assert.deepEqual(rows[0], ['grew', '+50 % ▲']);
  assert.equal(rows[1][0], 'ended');
  assert.match(rows[1][1], /^no data since (\d\d-\d\d )?\d\d:\d\d$/);
  assert.deepEqual(rows.slice(2).map(([, change]) => change), rows.slice(2).map(() => 'new'));
}));

const versions = (more = {}) => explore('checkout', {
  view: 'diff', query: 'cpu{service_name="checkout", version="2.5.0"}', baseline: 1, base_query: 'cpu{service_name="checkout", version="2.4.0"}', ...more });

test('two versions over a deploy differ by what one instance takes', () => onPage(versions(), {}, async (page) => {
  await openFlame(page);
  await eventually(async () => assert.match(await page.textContent('.diff-summary'),
    /^\+0\.23 cores per instance \(\+28 %\) The selection takes 28 % more time per instance than the baseline\./));
  assert.match(await page.textContent('.diff-summary'), /compile \+0\.23 cores \(new\)/);
  const side = (name) => page.getByRole('region', { name, exact: true }).textContent();
  assert.match(await side('Baseline'), /0\.83 cores per instance.*23 min × 3 instances · 345,000 samples from 69 profiles/);
  assert.match(await side('Selection'), /1\.07 cores per instance.*34 min × 3 instances/);
  assert.equal(await page.locator('.warning[data-code=coverage_differs]').count(), 1);
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  await eventually(async () => {
    const [first] = await rowsOf(page);
    assert.deepEqual([first.Function, first['Self after'], first['Self change'], first['Self ±']], ['compile', '0.23 cores', '+0.23 cores', 'new']);
  });
  await page.getByRole('button', { name: 'Totals', exact: true }).click();
  await eventually(async () => assert.match(await page.textContent('.diff-summary'), /\(\+89 %\)/));
  assert.equal(stateOf(page).get('scale'), 'absolute');
  await page.getByRole('button', { name: 'Shares', exact: true }).click();
  await eventually(async () => assert.match(await page.textContent('.diff-summary'), /shows the mix, not the growth/));
  await eventually(async () => assert.deepEqual((await rowsOf(page)).slice(0, 1).map((row) => [row.Function, row['Self after'], row['Self change']]),
    [['compile', '21.9 %', '+21.9 pp']]));
  await page.getByRole('button', { name: 'Rate per instance', exact: true }).click();
  await eventually(async () => assert.equal(stateOf(page).get('scale'), null));
}));

test('another version sets both sides, the newer as the selection', () => onPage(explore('checkout', { view: 'diff' }), {}, async (page) => {
  const choice = page.getByLabel('Another version');
  await choice.waitFor();
  await eventually(async () => assert.match((await choice.locator('option').allTextContents()).join('|'), /2\.5\.0 against 2\.4\.0/));
  await choice.selectOption({ index: 1 });
  await eventually(async () => assert.equal(stateOf(page).get('query'), 'cpu{service_name="checkout", version="2.5.0"}'));
  assert.equal(stateOf(page).get('base_query'), 'cpu{service_name="checkout", version="2.4.0"}');
  await eventually(async () => assert.match(await page.textContent('.diff-summary'), /\(\+28 %\).*28 % more time per instance/));
  await eventually(async () => assert.equal(await choice.evaluate((select) => select.selectedOptions[0].value), '0'));
}));

test('an answer of few samples says so, in every view', async () => {
  for (const more of [{}, { pane: 'table' }, { pane: 'tree' }, { pane: 'both' }, { sandwich: 'rare' }, { view: 'heatmap' }, { view: 'source', source: 'rare.c' }]) {
    await onPage(explore('scarce', more), {}, async (page) => {
      await page.locator('.warning[data-code=few_samples]').waitFor();
      assert.equal(await page.locator('.warning').count(), 1);
      assert.match(await page.locator('main').textContent(), /12 samples/);
    });
  }
  await onPage(explore('scarce', { view: 'diff', baseline: 1, base_query: 'cpu{service_name="steady"}' }), {}, async (page) => {
    await page.locator('.diff-summary .warning[data-code=few_samples]').waitFor();
  });
});
