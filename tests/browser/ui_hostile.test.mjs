// What other people's programs, proxies and bad days do to the pages.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { after, test } from 'node:test';
import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { detailsOf, eventually, openFlame, openPage, rowsOf, searchFor, Server, setUpPages, stateOf } from './pages.mjs';
import { hostile, hostileNames, small } from './profiles.mjs';

const script = '<script>window.pwned=1</script>';
const image = '<img src=x onerror=window.pwned=1>';
const turned = '\u202Egnirts\u202C';
const deep = `${Array.from({ length: 300 }, (_, level) => `level_${level}`).join(';')} 7\n`;
const services = [image, turned, '__proto__', 'x'.repeat(1000), 'a"b\\c'];

async function seed(server) {
  for (const service of services) {
    await server.send(hostile, { service, labels: { version: script, pod: image, 'host.name': turned }, ago: 300 });
    await server.send(hostile, { service, labels: { version: `${script}2`, pod: '__proto__', 'host.name': image }, ago: 120 });
  }
  await server.send(deep, { service: 'deep' });
  await server.send(small, { service: 'small' });
  await server.send(Buffer.concat([Buffer.from('main;bad_'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('_end 5\n')]), { service: 'bytes' });
}
const { server, onPage, browser } = setUpPages({ seed });
const others = []; // what a test started besides
after(async () => { for (const stop of others) await stop(); });

const query = (more = {}) => `?${new URLSearchParams({ view: 'explore', query: 'cpu{service_name="__proto__"}', ...more })}`;
async function isOnlyText(page) {
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img, iframe, object, main script').count(), 0);
}

test('names of services and values of labels are text', () => onPage('', {}, async (page) => {
  await page.getByRole('row', { name: /__proto__/ }).waitFor();
  const names = await page.locator('.services-rows a').allTextContents();
  for (const name of [image, '‹RLO›gnirts‹PDF›', '__proto__', 'x'.repeat(1000), 'a"b\\c']) assert.ok(names.includes(name), name);
  // A row of a hostile name leads where it says.
  await page.getByRole('row', { name: /onerror/ }).click();
  await openFlame(page);
  assert.equal(stateOf(page).get('query'), `cpu{service_name="${image}"}`);
  assert.match(await page.title(), /<img src=x/);
  await page.locator('.explore-series select').selectOption('version');
  await eventually(async () => assert.deepEqual((await page.locator('.explore-legend-name').allTextContents()).sort(),
    [`Only ${script}`, `Only ${script}2`]));
  await page.getByRole('button', { name: `Exclude ${script}`, exact: true }).click();
  await page.getByRole('button', { name: `Remove version is not ${script}` }).waitFor();
  const field = page.getByRole('combobox', { name: 'Selector' });
  await field.fill('cpu{pod="');
  await page.getByRole('option', { name: image }).waitFor();
  await isOnlyText(page);
}));

test('function names are text in the flame graph, its twin, its menu and the search', () => onPage(query(), {}, async (page) => {
  await openFlame(page);
  const box = await page.locator('.flame-host').boundingBox();
  const seen = new Set();
  for (let i = 0; i < hostileNames.length; i++) {
    await page.mouse.move(box.x + ((i + 0.5) / hostileNames.length) * box.width, box.y + 50);
    seen.add((await detailsOf(page)).name);
  }
  assert.equal(seen.size, hostileNames.length);
  for (const name of [script, '‹RLO›gnirts‹PDF›', '__proto__', ']]>', 'x'.repeat(10000)]) assert.ok(seen.has(name), name.slice(0, 40));
  await searchFor(page, '<img');
  await eventually(async () => assert.match(await page.locator('.flame-found').textContent(), /in 1$/));
  await page.locator('.flame-host').focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menu').getByRole('menuitem', { name: /^Only stacks through/ }).click();
  await page.locator('.steps-bar li', { hasText: 'onerror' }).waitFor();
  await eventually(async () => assert.equal((await detailsOf(page)).total, '200 ms'));
  await isOnlyText(page);
}));

test('function names are text in table, tree, sandwich and comparison', async () => {
  await onPage(query({ pane: 'table' }), {}, async (page) => {
    await eventually(async () => assert.equal((await rowsOf(page)).length, hostileNames.length + 1));
    const names = (await rowsOf(page)).map((row) => row.Function);
    for (const name of [script, '‹RLO›gnirts‹PDF›', 'constructor', '__proto__', 'x'.repeat(10000)]) assert.ok(names.includes(name));
    await page.keyboard.press('3');
    await page.getByRole('treegrid').waitFor();
    await eventually(async () => assert.ok((await rowsOf(page)).some((row) => row.Function.includes(script))));
    await isOnlyText(page);
  });
  for (const name of [script, '__proto__', turned, 'x'.repeat(10000)]) {
    await onPage(query({ sandwich: name }), {}, async (page) => {
      await page.locator('.flame-sandwich').waitFor();
      await isOnlyText(page);
    });
  }
  await onPage(query({ view: 'diff', pane: 'both', from: 'now-4m', baseline: 1, base_from: 'now-8m', base_to: 'now-4m' }), {}, async (page) => {
    await openFlame(page);
    await eventually(async () => assert.ok((await rowsOf(page)).some((row) => row.Function === script)));
    await page.locator('.diff-presets select').selectOption({ index: 1 });
    await eventually(async () => assert.match(stateOf(page).get('base_query') ?? '', /script>/));
    await isOnlyText(page);
  });
  for (const view of ['heatmap', 'targets']) {
    await onPage(query({ view }), {}, async (page) => {
      await page.locator(view === 'heatmap' ? '.heatmap-canvas' : '.targets-table').first().waitFor();
      await isOnlyText(page);
    });
  }
});

test('bytes that are no text are shown as something', () => onPage(query({ query: 'cpu{service_name="bytes"}', pane: 'table' }), {}, async (page) => {
  await eventually(async () => assert.ok((await rowsOf(page)).some((row) => /^bad_.*_end$/.test(row.Function))));
}));

test('names of files are text', () => onPage('', {}, async (page) => {
  await page.getByRole('button', { name: 'Open file', exact: true }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await (await chooser).setFiles({ name: `${turned} ${image}.folded`, mimeType: '', buffer: Buffer.from(hostile) });
  await openFlame(page);
  await eventually(async () => assert.ok((await page.locator('.files-bar').textContent()).includes('‹RLO›gnirts‹PDF› <img')));
  await page.getByRole('button', { name: 'Other files' }).click();
  await page.locator('.files-list li').first().waitFor();
  await isOnlyText(page);
}));

test('an address full of nonsense opens', async () => {
  const nonsense = [`?view=${script}`, '?view=explore&zoom=%00&zoom=__proto__&pane=x&nodes=-1&step=focus:(&step=a', '?__proto__=1&constructor=2',
    `?view=explore&query=${encodeURIComponent(`cpu{service_name="${image}"}`)}&sort=__proto__&search=${encodeURIComponent('/(/')}&color=self&isolate=zz`];
  for (const address of nonsense) {
    await onPage(address, { statuses: [400, 404] }, async (page) => {
      await page.waitForSelector('main h1, main h2');
      await isOnlyText(page);
    });
  }
});

test('stacks of 300 levels are drawn and walked to their end', () => onPage(query({ query: 'cpu{service_name="deep"}' }), {}, async (page) => {
  await openFlame(page);
  await searchFor(page, 'level_299');
  await eventually(async () => assert.equal((await detailsOf(page)).name, 'level_299'));
  await page.locator('.flame-host').focus();
  await page.keyboard.press('Enter');
  await eventually(async () => assert.equal(stateOf(page).getAll('zoom').length, 300));
  await page.keyboard.press('3');
  await page.getByRole('treegrid').waitFor();
  await eventually(async () => assert.ok((await rowsOf(page)).some((row) => /level_/.test(row.Function))));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
}));

// --- how the pages are served

// The answer as it comes over the wire.
function fetchRaw(address, headers = {}) {
  return new Promise((done, failed) => {
    request(address, { headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
    }).on('error', failed).end();
  });
}

test('the policy allows this origin alone, assets come compressed and only once', async () => {
  const page = await fetchRaw(`${server.url}/`);
  assert.match(page.headers['content-security-policy'], /default-src 'self'/);
  assert.doesNotMatch(page.headers['content-security-policy'], /unsafe|\*|data:|blob:|https?:/);
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  const assets = [...page.body.toString().matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map((match) => match[1]);
  assert.ok(assets.length >= 2, page.body.toString());
  for (const asset of assets) {
    assert.doesNotMatch(asset, /^(\/|https?:)/); // relative: works under any prefix
    const address = new URL(asset, `${server.url}/`);
    const plain = await fetchRaw(address);
    for (const [encoding, decode] of [['br', brotliDecompressSync], ['gzip', gunzipSync]]) {
      const packed = await fetchRaw(address, { 'Accept-Encoding': encoding });
      assert.equal(packed.headers['content-encoding'], encoding);
      assert.deepEqual(decode(packed.body), plain.body);
      assert.ok(packed.headers.etag);
      const again = await fetchRaw(address, { 'Accept-Encoding': encoding, 'If-None-Match': packed.headers.etag });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
    }
  }
});

test('the policy is in force: what it forbids does not run', async () => {
  const page = await openPage(browser(), server);
  await page.evaluate(() => {
    const bad = document.createElement('script');
    bad.textContent = 'window.pwned = 1';
    document.body.append(bad);
  });
  await eventually(async () => assert.ok(page.problems.some((problem) => /policy: script-src/.test(problem)), page.problems.join('\n')));
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.context().close();
});

test('a proxy may serve the pages below any path', async () => {
  const proxy = createServer((incoming, outgoing) => {
    const path = /^\/some\/prefix(\/.*)$/.exec(incoming.url)?.[1];
    if (!path) return outgoing.writeHead(404).end();
    const { host, ...headers } = incoming.headers;
    incoming.pipe(request(server.url + path, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    }).on('error', () => outgoing.destroy()));
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  others.push(() => new Promise((done) => { proxy.close(done); proxy.closeAllConnections(); }));
  const behind = { url: `http://127.0.0.1:${proxy.address().port}/some/prefix` };
  const page = await openPage(browser(), behind, query());
  await openFlame(page);
  await page.getByRole('link', { name: 'Services' }).click();
  await page.getByRole('row', { name: /small/ }).click();
  await openFlame(page);
  assert.match(page.url(), /\/some\/prefix\/\?view=explore/);
  await page.reload();
  await openFlame(page);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('the server may be told of a prefix', async () => {
  const prefixed = new Server({ prefix: '/vesta' });
  others.push(() => prefixed.remove());
  await prefixed.start();
  await prefixed.send(small, { service: 'small' });
  const page = await openPage(browser(), prefixed);
  await page.getByRole('row', { name: /small/ }).click();
  await openFlame(page);
  assert.match(page.url(), /\/vesta\/\?view=explore/);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

// --- bad days

test('a selector with an error is marked at its column', () => onPage(query({ query: 'cpu{service_name="a", pod==}' }), { statuses: [400] }, async (page) => {
  const field = page.getByRole('combobox', { name: 'Selector' });
  await eventually(async () => assert.equal(await field.getAttribute('aria-invalid'), 'true'));
  const text = await page.locator('.selector-error').textContent();
  const column = Number(/column (\d+)/.exec(text)?.[1]);
  assert.ok(column >= 25 && column <= 28, text);
  const place = await page.locator('.selector-marks span').evaluate((mark) => { // it is as wide as a character
    const { left, width } = mark.getBoundingClientRect();
    return (left - mark.parentElement.getBoundingClientRect().left) / width;
  });
  assert.equal(Math.round(place), column - 1);
  assert.equal(await page.locator('.flame').count(), 0);
  await field.fill('cpu{service_name="small"}');
  await field.press('Enter');
  await openFlame(page);
  assert.equal(await field.getAttribute('aria-invalid'), null);
}));

// Holds requests back until it is told to let them go.
async function hold(page, pattern) {
  let release;
  const gate = new Promise((done) => { release = done; });
  await page.route(pattern, async (route) => {
    await gate;
    await route.continue().catch(() => {}); // it may have been given up
  });
  return release;
}

test('slow answers are waited for quietly', async () => {
  let release;
  await onPage(query(), { prepare: async (page) => { release = await hold(page, '**/api/v1/flame*'); } }, async (page) => {
    await page.getByText('Loading the flame graph …').waitFor();
    await page.locator('.shell-progress.shown').waitFor();
    release();
    await openFlame(page);
    await eventually(async () => assert.equal(await page.locator('.shell-progress.shown').count(), 0));
    // What is there stays while the next is awaited.
    const next = await hold(page, '**/api/v1/flame*');
    await page.getByRole('button', { name: 'Inverted' }).isVisible();
    await page.getByRole('combobox', { name: 'Group' }).selectOption('binary');
    await page.locator('.flame[aria-busy=true] .flame-canvas').first().waitFor();
    next();
    await openFlame(page);
  });
});

test('what is superseded is given up', async () => {
  let release;
  await onPage(query(), { prepare: async (page) => { release = await hold(page, '**/api/v1/coverage*'); } }, async (page) => {
    const given = [];
    page.on('requestfailed', (failed) => given.push([new URL(failed.url()).pathname, failed.failure().errorText]));
    await page.locator('.explore').waitFor();
    for (const word of ['now-15m', 'now-30m', 'now-3h']) {
      const asked = page.waitForRequest((sent) => sent.url().includes('/coverage') && sent.url().includes(`from=${word}`));
      await page.evaluate((from) => {
        history.pushState(null, '', location.search.replace(/&from=[^&]*|$/, `&from=${from}`));
        dispatchEvent(new PopStateEvent('popstate'));
      }, word);
      await asked;
    }
    await eventually(async () => assert.equal(given.filter(([path, text]) => path.endsWith('/coverage') && text === 'net::ERR_ABORTED').length, 3));
    release();
    await openFlame(page);
    assert.equal(stateOf(page).get('from'), 'now-3h');
  });
});

const refusals = [
  [500, { code: 'internal', message: 'the disk is on fire; call somebody' }, /server failed/i, /disk is on fire/i, 'Try again'],
  [403, { code: 'permission_denied', message: 'this token may not read' }, /does not allow/i, /may not read/i, 'Enter a token'],
  [413, { code: 'resource_exhausted', message: 'the answer would be too large' }, /exceeds a limit of the server/i, /too large/i, 'Try again'],
  [429, { code: 'resource_exhausted', message: 'too many queries at once' }, /exceeds a limit of the server/i, /too many/i, 'Try again'],
  [504, { code: 'deadline_exceeded', message: 'the query took longer than 60 s' }, /took too long/i, /shorter range/i, 'Show the last quarter of the range'],
];
for (const [status, body, title, text, action] of refusals) {
  test(`a ${status} is a state with something to do`, async () => {
    let broken = true;
    const prepare = (page) => page.route(/api\/v1\/(services|coverage|flame|totals|top)\b/, (route) =>
      (broken ? route.fulfill({ status, json: body }) : route.continue()));
    for (const view of ['', query(), ...(status === 500 ? [query({ pane: 'table' })] : [])]) {
      broken = true;
      await onPage(view, { statuses: [status], prepare }, async (page) => {
        const notice = page.locator('.notice').first();
        await notice.waitFor();
        await eventually(async () => assert.match(await notice.locator('h2').textContent(), title));
        assert.match(await notice.textContent(), text);
        await notice.getByRole('button', { name: action }).waitFor();
        if (action !== 'Try again') return;
        broken = false;
        await notice.getByRole('button', { name: action }).click();
        await eventually(async () => assert.equal(await page.locator('.notice').count(), 0));
      });
    }
  });
}

test('a server that wants a token gets one, for this tab alone', () => onPage(query(), {
  statuses: [401],
  prepare: (page) => page.route('**/api/v1/**', (route) => {
    const { authorization, ...headers } = route.request().headers();
    return authorization === 'Bearer vesta_right' ? route.continue({ headers })
      : route.fulfill({ status: 401, json: { code: 'unauthenticated', message: 'a token is needed' } });
  }),
}, async (page) => {
  const dialog = page.getByRole('dialog', { name: 'Token required' });
  await dialog.waitFor();
  await page.keyboard.type('vesta_wrong'); // the field has the focus
  await dialog.getByRole('button', { name: 'Use token' }).click();
  await eventually(async () => assert.match(await dialog.textContent(), /rejected the token/));
  await dialog.getByRole('textbox', { name: 'Token' }).fill('vesta_right');
  await dialog.getByRole('button', { name: 'Use token' }).click();
  await openFlame(page);
  assert.equal(await dialog.count(), 0);
  assert.doesNotMatch(page.url(), /vesta_/);
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), '{}');
}));

test('an empty store says how data gets there, and shows the first as it comes', async () => {
  const empty = new Server();
  others.push(() => empty.remove());
  await empty.start();
  const page = await openPage(browser(), empty);
  await page.getByRole('heading', { name: 'No profiles yet' }).waitFor();
  const text = await page.locator('.first-run').textContent();
  assert.ok(text.includes(new URL(empty.url).host), text);
  await empty.send(small, { service: 'first' });
  await page.getByRole('row', { name: /first/ }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
