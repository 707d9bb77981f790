import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setUp } from './harness.mjs';
import { hostile, hostileNames, makeLarge, shop, shopNext, small } from './profiles.mjs';

const ROW = 20;
const { folder, onPage } = setUp();

// A point of the graph: share of the width, row from the top.
async function pointAt(page, share, row) {
  const box = await page.locator('#stage').boundingBox();
  return [box.x + share * box.width, box.y + (row + 0.5) * ROW];
}
const clickAt = async (page, share, row) => page.mouse.click(...await pointAt(page, share, row));
const details = async (page) => [await page.textContent('#detail-name'), await page.textContent('#detail-numbers')];
const crumbs = (page) => page.locator('#crumbs button').allTextContents();
const focusedItem = (page) => page.evaluate(() =>
  document.getElementById(document.getElementById('stage').getAttribute('aria-activedescendant')).textContent);

test('click zooms, Backspace undoes, 0 resets', () => onPage(folder.convert(small, 'zoom.html'), {}, async (page) => {
  await clickAt(page, 0.8, 2);
  assert.deepEqual(await crumbs(page), ['all', 'main', 'yield']);
  await page.mouse.move(...await pointAt(page, 0.1, 2)); // yield is as wide as the page now
  assert.deepEqual(await details(page), ['yield', '40 · 40.00% of total · 40.00% of parent · self 40']);
  await page.keyboard.press('Backspace');
  await page.waitForFunction(() => document.querySelectorAll('#crumbs button').length === 1);
  await clickAt(page, 0.3, 3);
  assert.deepEqual(await crumbs(page), ['all', 'main', 'work', 'inner']);
  await page.keyboard.press('Escape');
  assert.deepEqual(await crumbs(page), ['all', 'main', 'work']);
  await page.keyboard.press('0');
  assert.deepEqual(await crumbs(page), ['all']);
}));

test('details and tooltip follow the pointer at once', () =>
  onPage(folder.convert(small, 'hover.html'), {}, async (page) => {
    await page.mouse.move(...await pointAt(page, 0.3, 2));
    assert.deepEqual(await details(page), ['work', '60 · 60.00% of total · 60.00% of parent · self 10']);
    assert.match(await page.textContent('#tooltip'), /^work60 · 60\.00% of total/);
    await page.mouse.move(5, 5);
    assert.equal(await page.locator('#tooltip').isVisible(), false);
  }));

test('search shows the union of the matches, n and N walk them', () =>
  onPage(folder.convert(small, 'search.html'), {}, async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('inner');
    assert.equal(await page.textContent('#matched'), 'matched 50.00%');
    await page.fill('#query', '/^(leaf|yield)$/');
    assert.equal(await page.textContent('#matched'), 'matched 70.00%');
    await page.locator('#stage').focus();
    await page.keyboard.press('n');
    assert.match(await focusedItem(page), /^leaf, 30/);
    await page.keyboard.press('n');
    assert.match(await focusedItem(page), /^yield, 40/);
    await page.keyboard.press('N');
    assert.match(await focusedItem(page), /^leaf, 30/);
    await page.fill('#query', '/(/');
    assert.match(await page.textContent('#matched'), /^not valid/);
    await page.keyboard.press('Escape');
    assert.equal(await page.textContent('#matched'), '');
    await page.keyboard.press('Control+f');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'query');
  }));

test('arrow keys walk the tree that a screen reader sees', () =>
  onPage(folder.convert(small, 'keys.html'), {}, async (page) => {
    await page.locator('#stage').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    assert.match(await focusedItem(page), /^yield, 40 · 40\.00% of total/);
    const item = page.locator('#twin [aria-selected=true]');
    assert.deepEqual(await item.evaluate((e) => [e.ariaLevel, e.ariaPosInSet, e.ariaSetSize]), ['3', '2', '2']);
    await page.keyboard.press('Enter');
    assert.deepEqual(await crumbs(page), ['all', 'main', 'yield']);
    await page.keyboard.press('ArrowUp');
    assert.match(await focusedItem(page), /^main, 100/);
    await page.keyboard.press('?');
    assert.equal(await page.locator('#help').isVisible(), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#help').isVisible(), false);
  }));

test('bottom-up puts what ran on top and keeps the total', () =>
  onPage(folder.convert(small, 'up.html'), {}, async (page) => {
    await page.keyboard.press('i');
    await page.locator('#stage').focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedItem(page), /^yield, 40/);
    await page.keyboard.press('ArrowRight');
    assert.match(await focusedItem(page), /^leaf, 30/);
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedItem(page), /^inner, 30/);
    await page.mouse.move(...await pointAt(page, 0.5, 0));
    assert.match((await details(page))[1], /^100 · 100%/);
  }));

test('sandwich has callers above and callees below', () =>
  onPage(folder.convert(shop, 'sandwich.html'), {}, async (page) => {
    await page.fill('#query', '/^memcmp$/');
    await page.keyboard.press('Enter');
    await page.locator('#stage').focus();
    await page.keyboard.press('s');
    assert.deepEqual(await crumbs(page), ['memcmp']);
    assert.match(await focusedItem(page), /^memcmp, 453/); // 286 + 167 from two places
    await page.keyboard.press('ArrowUp');
    assert.match(await focusedItem(page), /^rocksdb::Block::Seek, 286/);
    await page.keyboard.press('ArrowRight');
    assert.match(await focusedItem(page), /^rocksdb::Comparator::Compare, 167/);
  }));

test('collapsing recursion makes one frame of direct calls of itself', () =>
  onPage(folder.convert(small, 'recursion.html'), {}, async (page) => {
    await page.keyboard.press('r');
    await page.mouse.move(...await pointAt(page, 0.1, 4)); // leaf has moved up a row
    assert.equal((await details(page))[0], 'leaf');
  }));

test('the table counts recursion once, sorts and picks', () =>
  onPage(folder.convert(small, 'table.html'), {}, async (page) => {
    await page.keyboard.press('2');
    const rows = () => page.locator('#table tbody tr:not([aria-hidden])').evaluateAll((list) =>
      list.map((row) => [...row.cells].slice(0, 5).map((cell) => (cell.querySelector('bdi') ?? cell).textContent).join(' ')));
    assert.deepEqual(await rows(), ['40 40.00% 40 40.00% yield', '30 30.00% 30 30.00% leaf', '20 20.00% 50 50.00% inner',
      '10 10.00% 60 60.00% work', '0 0% 100 100% main']);
    await page.getByRole('button', { name: 'Total', exact: true }).click();
    assert.match((await rows())[0], /main$/);
    await page.fill('#query', 'i');
    assert.equal((await rows()).length, 3);
    await page.locator('#table bdi', { hasText: 'inner' }).click();
    assert.equal(await page.inputValue('#query'), '/^inner$/');
    assert.equal(await page.textContent('#matched'), 'matched 50.00%');
  }));

test('the address keeps the view', async () => {
  const file = folder.convert(shop, 'state.html');
  let hash;
  await onPage(file, {}, async (page) => {
    await page.keyboard.press('i');
    await clickAt(page, 0.05, 3);
    await page.fill('#query', '/rocksdb::.*Get/');
    hash = await page.evaluate(() => location.hash);
  });
  await onPage(file, { hash }, async (page) => {
    assert.equal((await crumbs(page)).length, 4);
    assert.equal(await page.inputValue('#query'), '/rocksdb::.*Get/');
    assert.equal(await page.locator('#mode-up').getAttribute('aria-pressed'), 'true');
  });
  await onPage(file, { hash: '#mode=x&zoom=zz.zz&pivot=%00&__proto__=1&view=<b>' }, async (page) => {
    assert.deepEqual(await crumbs(page), ['all']);
  });
});

test('hostile names stay text', () => onPage(folder.convert(hostile, 'hostile.html'), {}, async (page) => {
  await page.keyboard.press('2');
  const names = await page.locator('#table bdi').allTextContents();
  assert.ok(names.includes('<script>window.pwned=1</script>'));
  assert.ok(names.includes('x'.repeat(10000)));
  assert.ok(names.includes('\\u{202E}gnirts\\u{202C}'));
  assert.equal(names.length, hostileNames.length + 1);
  await page.keyboard.press('1');
  for (let i = 0; i < hostileNames.length; i++) {
    await page.mouse.move(...await pointAt(page, (i + 0.5) / hostileNames.length, 2));
  }
  await page.fill('#query', '<img');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img').count(), 0);
}));

test('light and dark follow the system, the switch wins', () =>
  onPage(folder.convert(small, 'theme.html'), { colorScheme: 'dark' }, async (page) => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await background(), 'rgb(25, 23, 21)');
    await page.keyboard.press('l');
    assert.equal(await background(), 'rgb(253, 252, 250)');
  }));

test('a difference: what got slower is red and first in the table', () =>
  onPage(folder.diff(shop, shopNext, 'diff.html'), {}, async (page) => {
    await page.keyboard.press('2');
    const first = page.locator('#table tbody tr:not([aria-hidden])').first();
    assert.equal(await first.locator('bdi').textContent(), 'std::_Hash_bytes');
    const color = await first.locator('.more').first().evaluate((e) => getComputedStyle(e).color);
    const [red, , blue] = color.match(/\d+/g).map(Number);
    assert.ok(red > blue + 80, color);
    await page.keyboard.press('1');
    await page.fill('#query', '_Hash_bytes');
    assert.equal(await page.textContent('#matched'), 'matched 7.46% → 18.41%');
    await page.keyboard.press('Enter');
    assert.match(await focusedItem(page), /341 \(7\.46%\) → 682 \(15\.50%\) · change \+341 \(\+100%\)/);
    await page.fill('#query', 're2::RE2::Match');
    await page.keyboard.press('Enter');
    assert.match(await focusedItem(page), /^re2::RE2::Match \[gone\], 522/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('i'); // inverting keeps both sides
    assert.match(await focusedItem(page), /4,570 \(100%\) → 4,399 \(100%\)/);
  }));

test('100 000 frames are drawn and stay quick', () =>
  onPage(folder.convert(makeLarge(100_000), 'large.html'), {}, async (page) => {
    const mark = await page.evaluate(() => performance.getEntriesByName('vesta-drawn')[0].startTime);
    console.log(`100 000 frames drawn ${mark.toFixed(0)} ms after navigation`);
    assert.ok(mark < 10_000);
    const started = Date.now();
    await page.keyboard.press('i');
    assert.match(await page.textContent('.hint'), /frames/);
    await page.keyboard.press('2');
    assert.ok(await page.locator('#table tbody tr').count() < 100); // only rows in sight
    assert.ok(Date.now() - started < 10_000);
  }));

test('narrow frames of an inverted tree open up when zoomed into', () =>
  onPage(folder.convert(makeLarge(20_000), 'narrow.html'), { hash: '#mode=up' }, async (page) => {
    assert.match(await page.textContent('.hint'), /zoom in to follow/);
    await clickAt(page, 0.995, 1);
    assert.equal((await crumbs(page)).length, 2);
    await page.locator('#stage').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(await focusedItem(page), /acme::/);
  }));

test('no accessibility violations, light and dark, graph and table', async () => {
  const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  for (const [file, colorScheme] of [[folder.convert(shop, 'axe.html'), 'light'],
    [folder.diff(shop, shopNext, 'axe-diff.html'), 'dark']]) {
    for (const hash of ['', '#view=table']) {
      await onPage(file, { colorScheme, hash, bypassCSP: true }, async (page) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() =>
          axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }));
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]), []);
      });
    }
  }
});
