// Requests to the server that sent these pages, and nobody else. Errors say what happened in words for people, and in a
// kind that a view can act on.
import { signal } from '@preact/signals';
import { browserStorage } from '../state/storage';

export type ErrorKind =
  | 'gone' // no connection
  | 'timeout'
  | 'token' // none, or a wrong one
  | 'forbidden'
  | 'bad' // the question is wrong
  | 'nothing' // it matches nothing
  | 'limit' // too much, or too often
  | 'server';

export class ApiError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly hint = '',
    readonly column = 0, // where the selector is wrong, from 1; 0 = elsewhere
  ) {
    super(message);
  }
}

// Where the pages are: everything before the last slash, whatever prefix a proxy put there.
function base(): string {
  return location.pathname.replace(/[^/]*$/, '');
}

export function apiAddress(path: string, parameters: URLSearchParams): string {
  const query = parameters.toString();
  return `${base()}api/v1/${path}${query ? `?${query}` : ''}`;
}

const tokenKey = 'vesta-token';
// Only for this tab: a token in localStorage would outlive the person.
export const token = signal(browserStorage('sessionStorage')?.getItem(tokenKey) ?? '');

export function setToken(value: string) {
  token.value = value;
  const storage = browserStorage('sessionStorage');
  if (value) storage?.setItem(tokenKey, value);
  else storage?.removeItem(tokenKey);
}

// Whether the last request reached the server.
export const online = signal(true);

// What the last refusal was about: the frame then asks for a token.
export const refused = signal<'token' | null>(null);

const kinds: Record<number, ErrorKind> = {
  400: 'bad',
  401: 'token',
  403: 'forbidden',
  404: 'nothing',
  408: 'timeout',
  413: 'limit',
  429: 'limit',
  504: 'timeout',
};

function gone(): ApiError {
  return new ApiError('gone', 'the server is not responding', 'is it running? This page retries automatically');
}

async function errorOf(response: Response): Promise<ApiError> {
  let message = `the server answered ${response.status}`;
  let code = '';
  try {
    const body = await response.json();
    if (typeof body.message === 'string') message = body.message;
    if (typeof body.code === 'string') code = body.code;
  } catch {
    // not JSON: a proxy's page, of no use to anybody
  }
  // What a proxy says while the server behind it is away; the server's own words have a code.
  if (!code && (response.status === 502 || response.status === 503)) return gone();
  const [what, ...rest] = message.split('; ');
  const column = /\bcolumn (\d+)/.exec(message);
  const kind = code === 'deadline_exceeded' ? 'timeout' : (kinds[response.status] ?? 'server');
  return new ApiError(kind, what, rest.join('; '), column ? Number(column[1]) : 0);
}

// Requests that wait for their answer.
export const inFlight = signal(0);

export interface Call {
  method?: string;
  body?: BodyInit;
  accept?: string;
  signal?: AbortSignal;
}

export async function call(path: string, parameters: URLSearchParams, options: Call = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (options.accept) headers.Accept = options.accept;
  if (token.value) headers.Authorization = `Bearer ${token.value}`;
  let response: Response;
  inFlight.value++;
  try {
    response = await fetch(apiAddress(path, parameters), {
      method: options.method ?? 'GET',
      body: options.body,
      headers,
      signal: options.signal,
      credentials: 'same-origin',
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    online.value = false;
    throw gone();
  } finally {
    inFlight.value--;
  }
  return checked(response);
}

async function checked(response: Response): Promise<Response> {
  if (!response.ok) {
    const error = await errorOf(response);
    online.value = error.kind !== 'gone';
    if (error.kind === 'token') refused.value = 'token';
    throw error;
  }
  online.value = true;
  return response;
}

export interface Upload {
  signal?: AbortSignal; // closes the connection, by which the server knows that nobody waits any more
  onSent?(bytes: number): void;
}

// A body that people wait for: fetch does not tell how much of it was sent.
export async function upload(
  path: string,
  parameters: URLSearchParams,
  body: Blob,
  options: Upload,
): Promise<Response> {
  inFlight.value++;
  try {
    return await checked(await send(apiAddress(path, parameters), body, options));
  } finally {
    inFlight.value--;
  }
}

function send(address: string, body: Blob, { signal, onSent }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stopped = () => new DOMException('stopped by the user', 'AbortError');
    if (signal?.aborted) return reject(stopped());
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    request.upload.onprogress = (event) => onSent?.(event.loaded);
    request.upload.onload = () => onSent?.(body.size);
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }));
    request.onerror = () => {
      online.value = false;
      reject(gone());
    };
    request.onabort = () => reject(stopped());
    request.onloadend = () => signal?.removeEventListener('abort', stop);
    signal?.addEventListener('abort', stop);
    request.open('POST', address);
    if (token.value) request.setRequestHeader('Authorization', `Bearer ${token.value}`);
    request.send(body);
  });
}

export async function askJson<T>(path: string, parameters: URLSearchParams, signal?: AbortSignal): Promise<T> {
  return (await call(path, parameters, { signal, accept: 'application/json' })).json() as Promise<T>;
}

// What the server has no JSON for: the flame graph's columns, files.
export async function askBytes(
  path: string,
  parameters: URLSearchParams,
  accept: string,
  signal?: AbortSignal,
): Promise<ArrayBuffer> {
  return (await call(path, parameters, { signal, accept })).arrayBuffer();
}
