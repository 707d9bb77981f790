import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ApiError, call, inFlight, online, refused, upload } from './client';

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

// As much of XMLHttpRequest as an upload needs; the test says what happens.
class FakeRequest {
  static last: FakeRequest;
  upload: { onprogress?: (event: { loaded: number }) => void; onload?: () => void } = {};
  onload?: () => void;
  onerror?: () => void;
  onabort?: () => void;
  onloadend?: () => void;
  status = 0;
  responseText = '';
  headers: Record<string, string> = {};
  sent: unknown = null;
  opened = '';
  constructor() {
    FakeRequest.last = this;
  }
  open(method: string, address: string) {
    this.opened = `${method} ${address}`;
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  send(body: unknown) {
    this.sent = body;
  }
  abort() {
    this.onabort?.();
    this.onloadend?.();
  }
  answer(status: number, body: object) {
    this.status = status;
    this.responseText = JSON.stringify(body);
    this.onload?.();
    this.onloadend?.();
  }
}

describe('an upload', () => {
  const start = (options = {}) => {
    vi.stubGlobal('location', { pathname: '/some/prefix/' });
    vi.stubGlobal('XMLHttpRequest', FakeRequest);
    return upload('files', new URLSearchParams({ name: 'a b' }), new Blob(['12345']), options);
  };
  it('tells how much was sent, and gives the answer', async () => {
    const sent: number[] = [];
    const answer = start({ onSent: (bytes: number) => sent.push(bytes) });
    expect(FakeRequest.last.opened).toBe('POST /some/prefix/api/v1/files?name=a+b');
    FakeRequest.last.upload.onprogress?.({ loaded: 2 });
    FakeRequest.last.upload.onload?.();
    expect(sent).toEqual([2, 5]);
    expect(inFlight.value).toBe(1);
    FakeRequest.last.answer(200, { id: 'x' });
    expect(await (await answer).json()).toEqual({ id: 'x' });
    expect(inFlight.value).toBe(0);
  });
  it('has the words of the server for an error, with the hint', async () => {
    const answer = start();
    FakeRequest.last.answer(429, { code: 'resource_exhausted', message: 'other files are being read; try again' });
    await expect(answer).rejects.toMatchObject({
      kind: 'limit',
      message: 'other files are being read',
      hint: 'try again',
    });
  });
  it('ends when it is stopped, and the server is not taken for gone', async () => {
    const stopper = new AbortController();
    const answer = start({ signal: stopper.signal });
    stopper.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(online.value).toBe(true);
    expect(inFlight.value).toBe(0);
  });
  it('notices that the server is gone', async () => {
    const answer = start();
    FakeRequest.last.onerror?.();
    await expect(answer).rejects.toMatchObject({ kind: 'gone' });
    expect(online.value).toBe(false);
  });
});
