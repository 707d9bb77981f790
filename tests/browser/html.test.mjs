import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setUp } from './harness.mjs';
import { hostile, hostileNames, makeLarge, shop, shopNext, small } from './profiles.mjs';

const ROW = 20;
const { folder, onPage } = setUp();

const graph = (page) => page.locator('.flame-host').first();
const query = (page) => page.locator('.flame-search input, .search-box').first();
// A point of the graph: share of the width, row from the top.
async function pointAt(page, share, row) {
  const box = await graph(page).boundingBox();
  return [box.x + share * box.width, box.y + (row + 0.5) * ROW];
}
const clickAt = async (page, share, row) => page.mouse.click(...await pointAt(page, share, row));
const found = (page) => page.textContent('#flame-found');
const details = async (page) => [await page.textContent('.flame-details-name'),
  (await page.locator('.flame-number').allTextContents()).map((text) => text.trim()).filter(Boolean).join(' · ')];
const crumbs = (page) => page.locator('.flame-crumbs li').allTextContents();
const crumbsAre = (page, ...names) => page.waitForFunction((wanted) =>
  [...document.querySelectorAll('.flame-crumbs li')].map((item) => item.textContent).join('>') === wanted, names.join('>'));
const focusedItem = (page) => page.evaluate(() => {
  const tree = document.activeElement.getAttribute('role') === 'tree' ? document.activeElement : document.querySelector('.flame-host');
  return document.getElementById(tree.getAttribute('aria-activedescendant')).textContent;
});
const rowsOf = (page) => page.locator('.grid-body [role=row]').evaluateAll((rows) =>
  rows.map((row) => [...row.children].map((cell) => cell.textContent.trim()).join('|')));
const table = async (page) => {
  await page.keyboard.press('2');
  await page.locator('.grid-body [role=row]').first().waitFor();
};

test('click zooms, Backspace undoes, 0 resets', () => onPage(folder.convert(small, 'zoom.html'), {}, async (page) => {
  await clickAt(page, 0.8, 2);
  await crumbsAre(page, 'total', 'main', 'yield');
  await page.mouse.move(...await pointAt(page, 0.1, 2)); // yield is as wide as the page now
  assert.deepEqual(await details(page), ['yield', 'total 40 · of all 40.0 % · of parent 40.0 % · self 40']);
  await page.keyboard.press('Backspace');
  await crumbsAre(page, 'total');
  await clickAt(page, 0.3, 3);
  await crumbsAre(page, 'total', 'main', 'work', 'inner');
  await page.keyboard.press('Escape');
  await crumbsAre(page, 'total', 'main', 'work');
  await page.keyboard.press('0');
  await crumbsAre(page, 'total');
}));

test('details follow the pointer at once', () =>
  onPage(folder.convert(small, 'hover.html'), {}, async (page) => {
    await page.mouse.move(...await pointAt(page, 0.3, 2));
    assert.deepEqual(await details(page), ['work', 'total 60 · of all 60.0 % · of parent 60.0 % · self 10']);
    await page.mouse.move(5, 5);
    assert.equal((await details(page))[0], 'total');
  }));

test('search shows the union of the matches, n and N walk them', () =>
  onPage(folder.convert(small, 'search.html'), {}, async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('inner');
    assert.equal(await found(page), '50.0 % in 2');
    await query(page).fill('/^(leaf|yield)$/');
    assert.equal(await found(page), '70.0 % in 2');
    await graph(page).focus();
    await page.keyboard.press('n'); // the heaviest first
    assert.match(await focusedItem(page), /^yield, 40,/);
    await page.keyboard.press('n');
    assert.match(await focusedItem(page), /^leaf, 30,/);
    await page.keyboard.press('N');
    assert.match(await focusedItem(page), /^yield, 40,/);
    await query(page).fill('/(/');
    assert.match(await found(page), /^invalid regular expression/);
    await page.keyboard.press('Escape');
    assert.equal(await found(page), '');
    await graph(page).focus();
    await page.keyboard.press('Control+f');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
  }));

test('arrow keys walk the tree that a screen reader sees', () =>
  onPage(folder.convert(small, 'keys.html'), {}, async (page) => {
    await graph(page).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    assert.match(await focusedItem(page), /^yield, 40, 40\.0 %/);
    const item = page.locator('[role=treeitem][aria-selected=true]');
    assert.deepEqual(await item.evaluate((e) => [e.ariaLevel, e.ariaPosInSet, e.ariaSetSize]), ['3', '2', '2']);
    await page.keyboard.press('Enter');
    await crumbsAre(page, 'total', 'main', 'yield');
    await page.keyboard.press('ArrowUp');
    assert.match(await focusedItem(page), /^main, 100/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and commands' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  }));

test('inverted puts what ran on top and keeps the total', () =>
  onPage(folder.convert(small, 'up.html'), {}, async (page) => {
    await page.keyboard.press('i');
    await graph(page).focus();
    await page.keyboard.press('ArrowDown'); // to the largest
    assert.match(await focusedItem(page), /^yield, 40/);
    await page.keyboard.press('ArrowUp');
    assert.match(await focusedItem(page), /^total, 100/);
    await query(page).fill('/^leaf$/');
    await page.keyboard.press('Enter');
    assert.match(await focusedItem(page), /^leaf, 30/);
    await graph(page).focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedItem(page), /^inner, 30/);
    await page.mouse.move(...await pointAt(page, 0.5, 0));
    assert.match((await details(page))[1], /^total 100 · of all 100 %/);
  }));

test('sandwich has callers above and callees below', () =>
  onPage(folder.convert(shop, 'sandwich.html'), {}, async (page) => {
    await query(page).fill('/^memcmp$/');
    await page.keyboard.press('Enter');
    await graph(page).focus();
    await page.keyboard.press('s');
    await page.locator('.flame-sandwich').waitFor();
    const spokenBy = (name) => page.getByRole('tree', { name }).locator('[role=treeitem]').allTextContents();
    assert.match((await spokenBy('Callees'))[0], /^memcmp, 453,/); // 286 + 167 from two places
    const callers = await spokenBy(/^Callers/);
    assert.ok(callers.some((text) => /^rocksdb::Block::Seek, 286,/.test(text)), callers.join('; '));
    assert.ok(callers.some((text) => /^rocksdb::Comparator::Compare, 167,/.test(text)), callers.join('; '));
    await page.keyboard.press('Escape');
    await page.locator('.flame-sandwich').waitFor({ state: 'detached' });
  }));

test('collapsing recursion makes one frame of direct calls of itself', () =>
  onPage(folder.convert(small, 'recursion.html'), {}, async (page) => {
    await page.keyboard.press('r');
    await page.locator('button[aria-pressed=true]', { hasText: 'Recursion' }).waitFor();
    await page.mouse.move(...await pointAt(page, 0.1, 4)); // leaf has moved up a row
    assert.equal((await details(page))[0], 'leaf');
  }));

test('the table counts recursion once, sorts, searches and leads to callers', () =>
  onPage(folder.convert(small, 'table.html'), {}, async (page) => {
    await table(page);
    assert.deepEqual(await rowsOf(page), ['40|40.0 %|40|40.0 %|yield|1', '30|30.0 %|30|30.0 %|leaf|1', '20|20.0 %|50|50.0 %|inner|2',
      '10|10.0 %|60|60.0 %|work|1', '0|0 %|100|100 %|main|0']);
    await page.getByRole('columnheader', { name: 'Total', exact: true }).click();
    assert.match((await rowsOf(page))[0], /main/);
    await query(page).fill('i');
    await page.waitForFunction(() => document.querySelectorAll('.grid-body [role=row]').length === 3);
    await page.getByRole('row', { name: /inner/ }).dblclick();
    await page.locator('.flame-sandwich').waitFor();
  }));

test('steps filter graph and table as a server does', () =>
  onPage(folder.convert(small, 'steps.html'), {}, async (page) => {
    await page.mouse.move(...await pointAt(page, 0.3, 2));
    await page.keyboard.press('f'); // only stacks through work
    await page.waitForFunction(() => document.querySelector('.flame-badges').textContent.startsWith('5 nodes'));
    assert.match((await details(page))[1], /^total 60 · of all 60\.0 %/);
    await table(page);
    assert.deepEqual((await rowsOf(page)).map((row) => row.split('|')[4]), ['leaf', 'inner', 'work', 'main']);
    await page.getByRole('button', { name: /^Remove: only through/ }).click();
    await page.waitForFunction(() => document.querySelectorAll('.grid-body [role=row]').length === 5);
  }));

test('the address keeps the view', async () => {
  const file = folder.convert(shop, 'state.html');
  let hash;
  await onPage(file, {}, async (page) => {
    await page.keyboard.press('i');
    await page.locator('button[aria-pressed=true]', { hasText: 'Inverted' }).waitFor();
    await clickAt(page, 0.05, 3);
    await page.waitForFunction(() => document.querySelectorAll('.flame-crumbs li').length === 4);
    await query(page).fill('/rocksdb::.*Get/');
    await page.waitForFunction(() => location.hash.includes('search='));
    hash = await page.evaluate(() => location.hash);
  });
  await onPage(file, { hash }, async (page) => {
    assert.equal((await crumbs(page)).length, 4);
    assert.equal(await query(page).inputValue(), '/rocksdb::.*Get/');
    assert.equal(await page.getByRole('button', { name: 'Inverted' }).getAttribute('aria-pressed'), 'true');
  });
  await onPage(file, { hash: '#pane=x&zoom=zz&zoom=%00&__proto__=1&view=<b>&step=focus:(' }, async (page) => {
    await page.getByRole('button', { name: 'Remove filters' }).click();
    await crumbsAre(page, 'total');
  });
});

test('hostile names stay text', () => onPage(folder.convert(hostile, 'hostile.html'), {}, async (page) => {
  await table(page);
  const names = await page.locator('.grid-name').evaluateAll((list) => list.map((name) => name.title));
  assert.ok(names.includes('<script>window.pwned=1</script>'));
  assert.ok(names.includes('x'.repeat(10000)));
  assert.ok(names.some((name) => name.includes('gnirts') && !name.includes('\u202E')));
  assert.equal(names.length, hostileNames.length + 1);
  await page.keyboard.press('1');
  await graph(page).waitFor();
  for (let i = 0; i < hostileNames.length; i++) {
    await page.mouse.move(...await pointAt(page, (i + 0.5) / hostileNames.length, 2));
  }
  await query(page).fill('<img');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img').count(), 0);
}));

test('light and dark follow the system, the switch wins', () =>
  onPage(folder.convert(small, 'theme.html'), { colorScheme: 'dark' }, async (page) => {
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(await background(), 'rgb(18, 22, 31)');
    await page.keyboard.press('l');
    assert.equal(await background(), 'rgb(255, 255, 255)');
  }));

test('a difference: what got slower is red and first in the table', () =>
  onPage(folder.diff(shop, shopNext, 'diff.html'), {}, async (page) => {
    await table(page);
    assert.match((await rowsOf(page))[0], /std::_Hash_bytes/);
    await page.keyboard.press('1');
    await graph(page).waitFor();
    await query(page).fill('_Hash_bytes');
    assert.equal(await found(page), '18.4 % in 2');
    await page.keyboard.press('Enter');
    assert.match(await focusedItem(page), /^std::_Hash_bytes, 682, 15\.5 %, \+100 % against the baseline/);
    assert.match((await details(page))[1], /before 341 · change \+341 \(\+100 %\)/);
    await page.getByRole('button', { name: /^Only in baseline: 1, 522/ }).click();
    assert.match(await page.locator('.flame-list li').textContent(), /^522.*shop::Rule::matches/);
    await page.keyboard.press('Escape');
    await query(page).fill('');
    await graph(page).focus();
    await page.keyboard.press('i'); // inverting keeps both sides
    await page.locator('button[aria-pressed=true]', { hasText: 'Inverted' }).waitFor();
    await page.mouse.move(...await pointAt(page, 0.5, 0));
    assert.match((await details(page))[1], /^total 4\.40 k · of all 100 % · self 0 · before 4\.57 k/);
  }));

test('100 000 frames are drawn and stay quick', () =>
  onPage(folder.convert(makeLarge(100_000), 'large.html'), {}, async (page) => {
    const mark = await page.evaluate(() => performance.getEntriesByName('vesta:flame-drawn')[0].startTime);
    console.log(`100 000 frames drawn ${mark.toFixed(0)} ms after navigation`);
    assert.ok(mark < 10_000);
    const started = Date.now();
    await page.keyboard.press('i');
    await page.locator('button[aria-pressed=true]', { hasText: 'Inverted' }).waitFor();
    assert.match(await page.textContent('.flame-badges'), /nodes shown, .* cut/);
    await table(page);
    assert.ok(await page.locator('.grid-body [role=row]').count() < 100); // only rows in sight
    assert.ok(Date.now() - started < 10_000);
  }));

test('narrow frames of an inverted tree open up when zoomed into', () =>
  onPage(folder.convert(makeLarge(20_000), 'narrow.html'), { hash: '#inverted=1' }, async (page) => {
    assert.match(await page.textContent('.flame-badges'), /nodes shown, .* cut/);
    // The search walks from the heaviest to the lightest: the last of its matches has callers that were not followed.
    await query(page).fill('method_2999');
    await page.keyboard.press('Shift+Enter');
    await graph(page).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.flame-crumbs li').length >= 2);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedItem(page), /acme::/);
  }));

test('no accessibility violations, light and dark, graph and table', async () => {
  const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  for (const [file, colorScheme] of [[folder.convert(shop, 'axe.html'), 'light'],
    [folder.diff(shop, shopNext, 'axe-diff.html'), 'dark']]) {
    for (const hash of ['', '#pane=table']) {
      await onPage(file, { colorScheme, hash, bypassCSP: true }, async (page) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() =>
          axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }));
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
      });
    }
  }
});
