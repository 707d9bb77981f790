import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUp } from './harness.mjs';
import { hostile, hostileNames, shop, shopNext, small } from './profiles.mjs';

const { folder, onPage } = setUp();

const frame = (page, name) => page.locator('#frames > g').filter({ has: page.locator('title', { hasText: name }) });
const widthOf = async (locator) => Number(await locator.locator('rect').first().getAttribute('width'));

test('click zooms, the button and Esc reset', () => onPage(folder.convert(small, 'zoom.svg'), {}, async (page) => {
  const whole = await widthOf(frame(page, /^all /));
  const resting = frame(page, /^yield /);
  assert.ok(Math.abs(await widthOf(resting) / whole - 0.4) < 0.01);
  await resting.click();
  assert.ok(Math.abs(await widthOf(resting) - whole) < 1);
  assert.equal(await frame(page, /^work /).isVisible(), false);
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  assert.ok(Math.abs(await widthOf(resting) / whole - 0.4) < 0.01);
  await resting.click();
  await page.keyboard.press('Escape');
  assert.equal(await frame(page, /^work /).isVisible(), true);
}));

test('search shows the union of the matches', () => onPage(folder.convert(small, 'search.svg'), {}, async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('inner');
  assert.equal(await page.textContent('#matched'), 'matched: 50.00%');
  await page.locator('.field').fill('/^(leaf|yield)$/');
  assert.equal(await page.textContent('#matched'), 'matched: 70.00%');
  await page.locator('.field').fill('/(/');
  assert.match(await page.textContent('#matched'), /not a valid expression/);
  await page.keyboard.press('Escape');
  assert.equal(await page.textContent('#matched'), '');
  await page.keyboard.press('Control+f');
  assert.equal(await page.locator('.field').isVisible(), true);
}));

test('the details line has value, share of total and of parent', () =>
  onPage(folder.convert(small, 'details.svg'), {}, async (page) => {
    await frame(page, /^work /).hover();
    assert.equal(await page.textContent('#details'), 'work: 60, 60.00% of total, 60.00% of parent');
  }));

test('arrow keys walk and Enter zooms', () => onPage(folder.convert(small, 'keys.svg'), {}, async (page) => {
  await page.keyboard.press('Tab');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
  assert.match(await page.textContent('#details'), /^yield: 40/);
  await page.keyboard.press('Enter');
  assert.equal(await frame(page, /^work /).isVisible(), false);
}));

test('without scripts it is a complete picture, and the script changes no label at the same width', async () => {
  const file = folder.convert(shop, 'still.svg');
  const labelsOf = (page) => page.locator('#frames text').allTextContents();
  let still;
  await onPage(file, { javaScriptEnabled: false, width: 1200 }, async (page) => { still = await labelsOf(page); });
  assert.ok(still.length > 60);
  await onPage(file, { width: 1200 }, async (page) => assert.deepEqual(await labelsOf(page), still));
});

test('hostile names stay text', () => onPage(folder.convert(hostile, 'hostile.svg'), {}, async (page) => {
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img, #frames script').count(), 0);
  const titles = await page.locator('#frames title').allTextContents();
  assert.ok(titles.some((title) => title.startsWith('<script>window.pwned=1</script> (10')));
  assert.equal(titles.length, hostileNames.length + 2);
  assert.ok(titles.every((title) => !title.includes('\u202E')));
}));

test('dark mode has a dark page', () =>
  onPage(folder.convert(small, 'dark.svg'), { colorScheme: 'dark' }, async (page) => {
    assert.equal(await page.locator('.page').evaluate((e) => getComputedStyle(e).fill), 'rgb(25, 23, 21)');
  }));

test('a difference names what is new, gone and changed', () =>
  onPage(folder.diff(shop, shopNext, 'diff.svg'), {}, async (page) => {
    const redness = await frame(page, /^std::_Hash_bytes \(before/).first().locator('rect').first()
      .evaluate((e) => getComputedStyle(e).fill.match(/\d+/g).map(Number));
    assert.ok(redness[0] > redness[2] + 80, `red: ${redness}`);
    await frame(page, /^re2::DFA/).hover();
    assert.match(await page.textContent('#details'), /before 522 \(11\.42%\), after 0 \(0%\), change -522 \(gone\)/);
    assert.ok((await page.locator('#frames text').allTextContents()).some((text) => text.startsWith('[gone] ')));
    assert.equal(await page.locator('#legend rect').count(), 11);
  }));
