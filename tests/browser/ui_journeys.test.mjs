// What people come for, from beginning to end, on data of which every number is known.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { detailsOf, eventually, focusedBar, openFlame, rowsOf, searchFor, setUpPages, stateOf } from './pages.mjs';
import { shop, shopNext, small } from './profiles.mjs';

const minute = 60_000;
const end = Math.floor(Date.now() / minute) * minute;
const begin = end - 60 * minute;
const release = begin + 30 * minute;

// Twelve profiles of each release: two pods, six times. A count of folded stacks is 10 ms of CPU time.
async function seed(server) {
  const sent = [];
  for (let at = begin + 3 * minute + 7000; at < end; at += 5 * minute) {
    const version = at < release ? '1.0' : '1.1';
    for (const pod of ['shop-a', 'shop-b']) {
      sent.push(server.send(at < release ? shop : shopNext, { service: 'checkout', labels: { version, pod, 'host.name': `h-${pod}` }, at }));
    }
    sent.push(server.send(small, { service: 'search', labels: { version: '7' }, at }));
    sent.push(server.send(small.replace(/\d+$/gm, '1'), { service: 'billing', labels: { version: '2' }, at }));
  }
  await Promise.all(sent);
}
const { server, onPage } = setUpPages({ seed });

const checkout = 'cpu{service_name="checkout"}';
const query = (more = {}) => `?${new URLSearchParams({ view: 'explore', query: checkout, from: begin, to: end, ...more })}`;
const comparison = (more = {}) => query({ view: 'diff', from: release, baseline: 1, base_from: begin, base_to: release, ...more });
const button = (page, name) => page.getByRole('button', { name, exact: true });
const step = (page, text) => page.locator('.steps-bar li', { hasText: text });

// Where a time is in the chart.
async function chartPoint(page, time, height) {
  // A chart that is made anew is away for a moment.
  const box = await eventually(async () => await page.locator('.u-over').boundingBox() ?? assert.fail('no chart'));
  return [box.x + ((time - begin) / (end - begin)) * box.width, box.y + height * box.height];
}
async function drag(page, from, to) {
  await page.mouse.move(...await chartPoint(page, from, 0.5));
  await page.mouse.down();
  const [x, y] = await chartPoint(page, to, 0.5);
  await page.mouse.move(x - 40, y);
  await page.mouse.move(x, y);
  await page.mouse.up();
}
const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 15_000, `${value - wanted} ms away`);

test('the hot function is found: services, filter, Enter, details and table', () => onPage('', {}, async (page) => {
  await page.getByRole('row', { name: /checkout/ }).waitFor();
  assert.equal(await page.locator('.services-rows [role=row]').count(), 3);
  assert.match(await page.locator('.services-rows [role=row]').first().textContent(), /^checkoutcpu/);
  await page.keyboard.press('/');
  await page.keyboard.type('check');
  await eventually(async () => assert.equal(await page.locator('.services-rows [role=row]').count(), 1));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await openFlame(page);
  assert.equal(stateOf(page).get('query'), checkout);
  // 12 × 4570 before the release and 12 × 4399 after it, each 10 ms.
  assert.deepEqual(await detailsOf(page), { name: 'total', total: '17.9 min', 'of all': '100 %', self: '0 ns' });
  const box = await page.locator('.flame-host').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  assert.equal((await detailsOf(page)).name, 'checkout');
  await button(page, 'Table').click();
  await eventually(async () => {
    const [first] = await rowsOf(page);
    // 12 × (341 + 682 + 128) of 12 × (4570 + 4399)
    assert.equal(first.Function, 'std::_Hash_bytes');
    assert.deepEqual([first.Self, first['Self %'], first.Total], ['2.30 min', '12.8 %', '2.30 min']);
  });
  await button(page, 'Flame graph').click();
  await openFlame(page);
  await searchFor(page, '/Rule>::find$/');
  await eventually(async () => assert.deepEqual(await detailsOf(page), { name: 'std::unordered_map<std::string, shop::Rule>::find',
    total: '2.05 min', 'of all': '11.4 %', 'of parent': '66.2 %', self: '0 ns' }));
}));

test('labels filter: chips, a click into the chart, Alt to exclude', () => onPage(query({ by: 'pod' }), {}, async (page) => {
  await page.locator('.u-over').waitFor();
  const legend = page.locator('.explore-legend-name');
  await eventually(async () => assert.equal(await legend.count(), 2));
  const [first, second] = (await legend.allTextContents()).map((name) => name.replace(/^Only /, ''));
  const bar = begin + 8 * minute + 7000;
  await page.mouse.click(...await chartPoint(page, bar, 0.9)); // low in the stack: the first series
  await eventually(async () => assert.equal(stateOf(page).get('query'), `cpu{service_name="checkout", pod="${first}"}`));
  await page.getByRole('button', { name: `Remove pod is ${first}` }).waitFor();
  await eventually(async () => assert.equal((await detailsOf(page)).total, '8.97 min')); // one pod of two
  await page.getByRole('button', { name: `pod is ${first}: change to is not` }).click();
  await eventually(async () => assert.equal(stateOf(page).get('query'), `cpu{service_name="checkout", pod!="${first}"}`));
  await page.getByRole('button', { name: `Remove pod is not ${first}` }).click();
  await eventually(async () => assert.equal(stateOf(page).get('query'), checkout));
  await eventually(async () => assert.equal(await legend.count(), 2));
  await page.keyboard.down('Alt');
  await page.mouse.click(...await chartPoint(page, bar, 0.9));
  await page.keyboard.up('Alt');
  await eventually(async () => assert.equal(stateOf(page).get('query'), `cpu{service_name="checkout", pod!="${first}"}`));
  await eventually(async () => assert.deepEqual(await legend.allTextContents(), [`Only ${second}`]));
  await page.goBack();
  await eventually(async () => assert.equal(await legend.count(), 2));
}));

test('a selector is completed while it is typed', () => onPage(query(), {}, async (page) => {
  const field = page.getByRole('combobox', { name: 'Selector' });
  await field.fill('cpu{ver');
  await page.getByRole('option', { name: 'version' }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: '1.1' }).first().waitFor();
  await eventually(async () => { // the newest need not be the first of the list
    await page.keyboard.press('ArrowDown');
    const active = await field.getAttribute('aria-activedescendant');
    assert.match(await page.locator(`[id="${active}"]`).textContent(), /1\.1/);
  });
  await page.keyboard.press('Enter');
  await eventually(async () => assert.match(await field.inputValue(), /version="1\.1"/));
  await field.fill('cpu{version="1.1"}');
  await page.keyboard.press('Enter');
  await eventually(async () => assert.match(stateOf(page).get('query'), /^cpu\{version="1\.1"\}$/));
  await eventually(async () => assert.equal((await detailsOf(page)).total, '8.80 min')); // 12 × 4399
}));

test('a regression: drag, Shift-drag, Compare; what doubled is on top, significant and red', () => onPage(query(), {}, async (page) => {
  await page.locator('.u-over').waitFor();
  await page.keyboard.down('Shift');
  await drag(page, begin + minute, release - minute / 2);
  await page.keyboard.up('Shift');
  await eventually(async () => assert.equal(stateOf(page).get('baseline'), '1'));
  near(Number(stateOf(page).get('base_from')), begin + minute);
  near(Number(stateOf(page).get('base_to')), release - minute / 2);
  assert.equal(stateOf(page).get('from'), String(begin)); // the selection stays
  await drag(page, release + minute / 2, end - minute);
  await eventually(async () => near(Number(stateOf(page).get('from')), release + minute / 2));
  near(Number(stateOf(page).get('to')), end - minute);
  await page.locator('.explore-baseline').getByRole('button', { name: 'Compare' }).click();
  await eventually(async () => assert.equal(stateOf(page).get('view'), 'diff'));
  await eventually(async () => assert.match(await page.textContent('.diff-summary'),
    /^−20\.5 s \(−3\.7 %\) The selection takes 3\.7 % less time than the baseline\. \d+ functions changed significantly/));
  await button(page, 'Table').click();
  await eventually(async () => {
    const [first] = await rowsOf(page);
    assert.equal(first.Function, 'std::_Hash_bytes');
    assert.deepEqual([first['Self before'], first['Self after'], first['Self change'], first['Self ±']],
      ['40.9 s', '1.62 min', '+56.3 s', '+138 %']);
    assert.equal(first['Signif.'], '● q < 0.001');
  });
  const color = await page.locator('.grid-body .grid-more').first().evaluate((bar) => getComputedStyle(bar, '::before').backgroundColor);
  const [red, , blue] = color.match(/[\d.]+/g).map(Number);
  assert.ok(red > 2 * blue, color);
  await button(page, 'New').click();
  await eventually(async () => assert.deepEqual((await rowsOf(page)).map((row) => row.Function), ['shop::PageCache::find(std::string_view)']));
  await button(page, 'Removed').click();
  await eventually(async () => assert.deepEqual((await rowsOf(page)).map((row) => row.Function).sort(), ['re2::DFA::SearchFFT', 're2::RE2::Match',
    'shop::Rule::matches(shop::Item const&)']));
  await button(page, 'Significant').click();
  await eventually(async () => assert.ok((await rowsOf(page)).every((row) => row['Signif.'].startsWith('●'))));
  await button(page, 'Flame graph').click();
  await openFlame(page);
  await searchFor(page, '/Rule>::find$/');
  await eventually(async () => assert.match(await focusedBar(page), /find, 1\.36 min, 15\.5 %, \+100 % against the baseline$/));
  assert.equal((await detailsOf(page)).change, '+40.9 s (+100 %)');
  await page.fill('.flame-search input', '');
  await page.locator('.flame-host').focus();
  await page.keyboard.press('Enter'); // now the bar is as wide as the graph
  await eventually(async () => assert.match(stateOf(page).getAll('zoom').at(-1), /Rule>::find$/));
  const depth = stateOf(page).getAll('zoom').length;
  await eventually(async () => {
    const [r, , b] = await page.locator('.flame-canvas').first().evaluate((canvas, row) =>
      [...canvas.getContext('2d').getImageData(canvas.width - 12, row * 20 + 4, 1, 1).data], depth);
    assert.ok(r > b + 60, `${r} ${b}`);
  });
}));

test('search says what share of all it found', () => onPage(query(), {}, async (page) => {
  await openFlame(page);
  await page.keyboard.press('/');
  await page.keyboard.type('rocksdb::');
  const found = page.locator('.flame-found');
  // (286 + 377 + 198 + 167 + 219) and the same with 377 × 1.18 = 445, of 4570 + 4399; frames inside of frames count once
  await eventually(async () => assert.match(await found.textContent(), /^28\.6 % in \d+$/));
  await page.fill('.flame-search input', '/^(memcmp|_int_free)$/');
  await eventually(async () => assert.equal(await found.textContent(), '13.3 % in 3')); // 2 × (286 + 167 + 142)
  await page.fill('.flame-search input', '/(/');
  await eventually(async () => assert.equal(await found.textContent(), 'invalid regular expression'));
  await page.fill('.flame-search input', 'nowhere');
  await eventually(async () => assert.equal(await found.textContent(), 'no match'));
  await page.fill('.flame-search input', 'memcmp');
  await button(page, 'List').click();
  const list = page.getByRole('dialog', { name: '2 matches' });
  assert.match(await list.locator('li').first().textContent(), /^1\.14 min6\.38 %memcmp in/); // 24 × 286
  await list.locator('li button').first().click();
  await eventually(async () => assert.equal(stateOf(page).getAll('zoom').at(-1), 'memcmp'));
  await button(page, 'Only matching').click();
  await eventually(async () => assert.equal((await detailsOf(page)).total, '1.81 min')); // 24 × 453
}));

test('steps are shared by graph, table and tree, and can be taken back', () => onPage(query(), {}, async (page) => {
  await openFlame(page);
  await searchFor(page, 'rocksdb::DB::Get');
  await page.locator('.flame-host').focus();
  await page.keyboard.press('f');
  await step(page, 'only through rocksdb::DB::Get').waitFor();
  await page.fill('.flame-search input', '');
  await page.locator('.flame-host').focus();
  // 12 × (286 + 377 + 198) and 12 × (286 + 445 + 198)
  await eventually(async () => assert.equal((await detailsOf(page)).total, '3.58 min'));
  await page.keyboard.press('2');
  await eventually(async () => assert.equal((await rowsOf(page))[0].Function, 'ZSTD_decompressSequences'));
  assert.equal(await page.locator('.steps-bar li').count(), 1);
  // a second step, from the table's own menu
  await page.locator('.grid-body [role=row]').first().click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Drop stacks through this function' }).click();
  await eventually(async () => assert.equal((await rowsOf(page))[0].Function, 'memcmp'));
  await page.keyboard.press('3');
  await page.getByRole('treegrid').waitFor();
  assert.equal(await page.locator('.steps-bar li').count(), 2);
  await eventually(async () => assert.equal((await rowsOf(page))[0].Total, '1.94 min')); // 24 × (286 + 198)
  await button(page, 'Undo step').click();
  await eventually(async () => assert.equal((await rowsOf(page))[0].Total, '3.58 min'));
  await page.goBack(); // undoes the undoing
  await eventually(async () => assert.equal((await rowsOf(page))[0].Total, '1.94 min'));
  await button(page, 'Remove all').click();
  await eventually(async () => assert.equal(await page.locator('.steps-bar').count(), 0));
  await page.keyboard.press('1');
  await eventually(async () => assert.equal((await detailsOf(page)).total, '17.9 min'));
}));

test('zoom, inverted and sandwich are in the address; Back and Forward walk them', () => onPage(query(), {}, async (page) => {
  await openFlame(page);
  await searchFor(page, '/^memcmp$/');
  await eventually(async () => assert.match(await focusedBar(page), /^memcmp, 1\.14 min/));
  await page.locator('.flame-host').focus();
  await page.keyboard.press('Enter');
  await eventually(async () => assert.equal(stateOf(page).getAll('zoom').length, 12));
  assert.equal(await page.locator('.flame-crumbs [aria-current]').textContent(), 'memcmp');
  await page.keyboard.press('s');
  await eventually(async () => assert.equal(stateOf(page).get('sandwich'), 'memcmp'));
  await page.locator('.flame-sandwich').waitFor();
  assert.match(await focusedBar(page, '[aria-label="Callees"]'), /^memcmp, 1\.81 min/); // from both places: 24 × 453
  const callers = page.getByRole('tree', { name: 'Callers, from the bottom up' });
  await callers.focus();
  await page.keyboard.press('ArrowUp');
  await eventually(async () => assert.match(await focusedBar(page), /Block::Seek, 1\.14 min/));
  await page.goBack();
  await eventually(async () => assert.equal(stateOf(page).get('sandwich'), null));
  await eventually(async () => assert.equal((await page.locator('.flame-crumbs [aria-current]').textContent()), 'memcmp'));
  await page.goBack();
  await eventually(async () => assert.equal(stateOf(page).getAll('zoom').length, 0));
  await page.goForward();
  await page.goForward();
  await page.locator('.flame-sandwich').waitFor();
  await button(page, 'Close sandwich').click();
  await page.keyboard.press('0');
  await button(page, 'Inverted').click();
  await eventually(async () => assert.equal(stateOf(page).get('inverted'), '1'));
  await page.fill('.flame-search input', '');
  await page.locator('.flame-host').focus();
  // Until the inverted graph has come, keys walk the old one, and what they reached goes with it.
  await eventually(async () => {
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedBar(page), /^std::_Hash_bytes, 2\.30 min, 12\.8 %/); // what ran most
  });
  await page.goBack();
  await eventually(async () => assert.equal(stateOf(page).get('inverted'), null));
}));

test('the call tree goes both ways', () => onPage(query({ pane: 'tree' }), {}, async (page) => {
  await page.getByRole('treegrid').waitFor();
  await eventually(async () => assert.match((await rowsOf(page))[0].Function, /checkout/));
  await button(page, 'Bottom-up').click();
  await eventually(async () => assert.match((await rowsOf(page))[0].Function, /_Hash_bytes/));
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await eventually(async () => assert.match((await rowsOf(page))[1].Function, /Rule>::find|PageCache::find/));
  const second = page.locator('.grid-body [role=row]').nth(1);
  assert.equal(await second.getAttribute('aria-level'), '2');
}));

test('a shared link restores the view in another browser', async () => {
  let link;
  let seen;
  const look = async (page) => {
    await openFlame(page);
    await eventually(async () => assert.match(await page.locator('.flame-found').textContent(), /%/));
    await eventually(async () => assert.ok((await rowsOf(page)).length >= 1));
    await page.mouse.move(2, 2);
    await eventually(async () => assert.notEqual((await detailsOf(page)).before, undefined));
    return {
      details: await detailsOf(page), rows: await rowsOf(page), found: await page.locator('.flame-found').textContent(),
      crumbs: await page.locator('.flame-crumbs').textContent(), steps: await page.locator('.steps-bar').textContent(),
      summary: await page.textContent('.diff-summary'), address: new URL(page.url()).search,
    };
  };
  const start = `?${new URLSearchParams({ view: 'diff', query: checkout, from: 'now-29m', baseline: 1, base_from: 'now-1h', base_to: 'now-31m' })}`;
  await onPage(start, { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await openFlame(page);
    await button(page, 'Both').click();
    await openFlame(page);
    await page.getByRole('grid').waitFor();
    await searchFor(page, 'shop::Router');
    await page.locator('.flame-host').focus();
    await page.keyboard.press('f');
    await step(page, 'only through shop::Router').waitFor();
    await searchFor(page, 'Hash');
    await page.locator('.flame-host').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Total change' }).click();
    await page.locator('.flame-host').focus();
    await page.keyboard.press('y');
    await page.locator('.toast', { hasText: 'Link copied' }).waitFor();
    link = await page.evaluate(() => navigator.clipboard.readText());
    seen = await look(page);
  });
  assert.match(link, /from=\d{13}&/); // frozen
  assert.match(link, /base_from=\d{13}&/);
  await onPage(new URL(link).search, {}, async (page) => {
    const now = await look(page);
    assert.equal(now.address, new URL(link).search);
    assert.deepEqual({ ...now, address: '' }, { ...seen, address: '' });
  });
});

test('exports are what they say they are', () => onPage(query({ pane: 'both' }), {}, async (page) => {
  await openFlame(page);
  const save = async (name) => {
    const waiting = page.waitForEvent('download');
    await button(page, 'Share').click();
    await page.getByRole('menuitem', { name, exact: true }).click();
    const download = await waiting;
    return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
  };
  const pprof = await save('pprof');
  assert.match(pprof.name, /^cpu-checkout-\d{8}-\d{6}\.pb\.gz$/);
  assert.deepEqual([...pprof.content.subarray(0, 2)], [0x1f, 0x8b]);
  assert.ok(gunzipSync(pprof.content).includes('_Hash_bytes'));
  const folded = (await save('Folded stacks')).content.toString();
  const sum = folded.trim().split('\n').reduce((total, line) => total + Number(/^.+ (\d+)$/.exec(line)[1]), 0);
  assert.equal(sum, 12 * (4570 + 4399) * 1e7);
  const speedscope = JSON.parse((await save('speedscope')).content);
  assert.ok(speedscope.shared.frames.some((frame) => frame.name === 'memcmp'));
  assert.match((await save('SVG')).content.toString().slice(0, 200), /^(<\?xml[^>]*>\s*)?<svg/);
  assert.match((await save('HTML, one file')).content.toString().slice(0, 200).toLowerCase(), /^<!doctype html>/);
  assert.deepEqual([...(await save('PNG of the flame graph')).content.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const csv = (await save('CSV of all functions')).content.toString().split('\r\n');
  assert.equal(csv[0], 'name,file,line,binary,flat,cum');
  assert.equal(csv[1], `std::_Hash_bytes,,0,,${12 * 1151e7},${12 * 1151e7}`);
  assert.ok((await save('OTLP')).content.length > 1000);
}));

test('the command that is copied prints the same', () =>
  onPage(query({ pane: 'table' }), { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.getByRole('grid').waitFor();
    await button(page, 'Share').click();
    await page.getByRole('menuitem', { name: 'Copy as vesta command' }).click();
    await page.locator('.toast', { hasText: 'Command copied' }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
      `vesta top '${checkout}' --from ${begin} --to ${end} --server ${server.url}`);
  }));

const file = (name, text) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });

test('a file is opened by the chooser, two are compared', () => onPage('', {}, async (page) => {
  await button(page, 'Open file').click();
  const chooser = page.waitForEvent('filechooser');
  await button(page, 'Choose files').click();
  await (await chooser).setFiles(file('one.folded', shop));
  await openFlame(page);
  await eventually(async () => assert.equal((await detailsOf(page)).total, '4.57 k')); // a file of counts stays one
  assert.match(await page.locator('.files-bar').textContent(), /one\.folded/);
  await page.keyboard.press('2');
  await eventually(async () => assert.equal((await rowsOf(page))[0].Function, 're2::DFA::SearchFFT'));
  await page.reload(); // the server still has it
  await eventually(async () => assert.equal((await rowsOf(page))[0].Function, 're2::DFA::SearchFFT'));
  await page.keyboard.press('o');
  const again = page.waitForEvent('filechooser');
  await button(page, 'Choose files').click();
  await (await again).setFiles([file('b-before.folded', shop), file('c-after.folded', shopNext)]);
  await eventually(async () => assert.equal(stateOf(page).get('view'), 'diff'));
  await eventually(async () => assert.equal((await rowsOf(page))[0].Function, 'std::_Hash_bytes'));
  assert.match(await page.textContent('.diff-summary'), /^−171 \(−3\.7 %\)/);
}));

// As a person drops it: a real DataTransfer with files.
async function drop(page, files) {
  const transfer = await page.evaluateHandle((list) => {
    const made = new DataTransfer();
    for (const { name, text } of list) made.items.add(new File([text], name));
    return made;
  }, files);
  for (const type of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer });
}

test('a dropped file opens; one that is no profile says what was expected', async () => {
  await onPage(query(), {}, async (page) => {
    await openFlame(page);
    await drop(page, [{ name: 'small.folded', text: small }]);
    await eventually(async () => assert.equal((await detailsOf(page)).total, '100'));
    await page.goBack();
    await eventually(async () => assert.equal((await detailsOf(page)).total, '17.9 min'));
  });
  await onPage(query(), { statuses: [400] }, async (page) => {
    await openFlame(page);
    await drop(page, [{ name: 'holiday.jpg', text: 'nothing \u0000 like a profile' }]);
    const alert = page.getByRole('dialog').getByRole('alert');
    await eventually(async () => assert.match(await alert.textContent(), /holiday\.jpg.*pprof/));
    await page.keyboard.press('Escape');
    assert.equal((await detailsOf(page)).total, '17.9 min'); // what was there stays
  });
});

test('a comparison can be swapped, scaled and opened by one side', () => onPage(comparison(), {}, async (page) => {
  await openFlame(page);
  await eventually(async () => assert.match(await page.textContent('.diff-summary'), /−20\.5 s/));
  await page.keyboard.press('w');
  await eventually(async () => assert.match(await page.textContent('.diff-summary'), /\+20\.5 s/));
  assert.equal(stateOf(page).get('from'), String(begin));
  await button(page, 'Shares').click();
  await eventually(async () => assert.equal(stateOf(page).get('scale'), 'normalized'));
  await page.getByRole('button', { name: 'Open alone: baseline' }).click();
  await eventually(async () => assert.equal(stateOf(page).get('view'), 'explore'));
  await eventually(async () => assert.equal((await detailsOf(page)).total, '8.80 min'));
}));
