import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ApiError, call, inFlight, online, refused } from './client';

const nothing = new URLSearchParams();

function answers(response: Response | Error) {
  vi.stubGlobal('location', { pathname: '/some/prefix/' });
  const fetch = vi.fn(async (_address: string) => {
    if (response instanceof Error) throw response;
    return response;
  });
  vi.stubGlobal('fetch', fetch);
  return fetch;
}
const failure = async () => (await call('top', nothing).catch((error) => error)) as ApiError;
const json = (status: number, body: object) => new Response(JSON.stringify(body), { status });

afterEach(() => {
  vi.unstubAllGlobals();
  online.value = true;
  refused.value = null;
});

describe('a request', () => {
  it('stays under the prefix of the pages', async () => {
    const fetch = answers(json(200, {}));
    await call('top', new URLSearchParams({ query: 'cpu{}' }));
    expect(fetch.mock.calls[0][0]).toBe('/some/prefix/api/v1/top?query=cpu%7B%7D');
    expect(inFlight.value).toBe(0);
  });
  it('notices that the server is gone, and that it is back', async () => {
    answers(new TypeError('connection refused'));
    expect((await failure()).kind).toBe('gone');
    expect(online.value).toBe(false);
    expect(inFlight.value).toBe(0);
    answers(json(200, {}));
    await call('top', nothing);
    expect(online.value).toBe(true);
  });
  it('takes a proxy without a server for the same', async () => {
    answers(new Response('<h1>Bad Gateway</h1>', { status: 502 }));
    expect((await failure()).kind).toBe('gone');
    expect(online.value).toBe(false);
  });
  it('does not take a busy server for one that is gone', async () => {
    answers(json(503, { code: 'unavailable', message: 'too many connections; try again' }));
    expect((await failure()).kind).toBe('server');
    expect(online.value).toBe(true);
  });
  it('asks for a token when one is wanted', async () => {
    answers(json(401, { code: 'unauthenticated', message: 'no token' }));
    expect((await failure()).kind).toBe('token');
    expect(refused.value).toBe('token');
  });
  it('finds the column of an error in a selector', async () => {
    answers(
      json(400, { code: 'invalid_argument', message: 'selector, column 7: expected a value; a selector looks so' }),
    );
    expect(await failure()).toMatchObject({ kind: 'bad', column: 7, hint: 'a selector looks so' });
  });
});
