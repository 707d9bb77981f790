// What an error means to the person, and the one thing to do about it.
import type { ApiError } from '../api/client';

export type ErrorAction = 'retry' | 'shorten' | 'token' | 'open-file' | 'edit' | 'none';
export interface ErrorText {
  title: string;
  text: string;
  action: ErrorAction;
}

const sentence = (text: string) =>
  text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}` : '';

export function errorText(error: Pick<ApiError, 'kind' | 'message' | 'hint' | 'column'>, file = false): ErrorText {
  const said = [sentence(error.message), sentence(error.hint)].filter(Boolean).join(' ');
  switch (error.kind) {
    case 'gone':
      return {
        title: 'The server is not responding',
        text: 'It may be restarting, or the network is down. This page retries automatically and keeps your settings.',
        action: 'retry',
      };
    case 'timeout':
      return {
        title: 'The query took too long',
        text: `${said} Try a shorter range or a narrower selector.`,
        action: 'shorten',
      };
    case 'token':
      return {
        title: 'This server requires a token',
        text: 'Ask its administrator for one, or create one on the server: vesta token create --scope read',
        action: 'token',
      };
    case 'forbidden':
      return {
        title: 'Your token does not allow this',
        text: `${said} Use a token with the required scope.`,
        action: 'token',
      };
    case 'bad':
      if (/^no profile type/.test(error.message)) {
        return { title: 'No profiles of this type here', text: said, action: 'edit' };
      }
      return error.column > 0 || /\bselector\b/.test(error.message)
        ? { title: 'The selector has an error', text: said, action: 'edit' }
        : { title: 'The server rejected the request', text: said, action: 'none' };
    case 'nothing':
      return file && /\bfile\b/.test(error.message)
        ? {
            title: 'This file is no longer open',
            text: 'The server keeps opened files in memory and closes them after an hour without use. Open the file again to continue.',
            action: 'open-file',
          }
        : { title: 'Not found', text: said, action: 'retry' };
    case 'limit':
      return { title: 'The request exceeds a limit of the server', text: said, action: 'shorten' };
    default:
      return { title: 'The server failed', text: said, action: 'retry' };
  }
}

// Why a selection without data is empty, from the series that match it at any time.
export type Emptiness =
  | { kind: 'no-series' }
  | { kind: 'stopped'; last: number } // was sending until inside of the range or shortly before
  | { kind: 'elsewhere'; first: number; last: number };

interface SeriesTimes {
  first_ns: number;
  last_ns: number;
}
const recently = 24 * 3_600_000;

export function classifyEmpty(
  series: readonly SeriesTimes[],
  range: { from: number; to: number },
  now: number,
): Emptiness {
  if (series.length === 0) return { kind: 'no-series' };
  const last = Math.max(...series.map((one) => one.last_ns)) / 1e6;
  const first = Math.min(...series.map((one) => one.first_ns)) / 1e6;
  const live = now - range.to < 60_000;
  if (live && last < range.from && now - last < recently) return { kind: 'stopped', last };
  return { kind: 'elsewhere', first, last };
}
