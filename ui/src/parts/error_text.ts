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
        title: 'The server does not answer',
        text: 'It may be restarting, or the network is down. This page tries again by itself and keeps what you set.',
        action: 'retry',
      };
    case 'timeout':
      return {
        title: 'The query took too long',
        text: `${said} A shorter range or a narrower selector reads less.`,
        action: 'shorten',
      };
    case 'token':
      return {
        title: 'This server wants a token',
        text: 'Ask whoever runs it, or make one on its machine: vesta token create --scope read',
        action: 'token',
      };
    case 'forbidden':
      return {
        title: 'Your token does not allow this',
        text: `${said} Another token with the scope for it would.`,
        action: 'token',
      };
    case 'bad':
      if (/^no profile type/.test(error.message)) {
        return { title: 'No profiles of this type here', text: said, action: 'edit' };
      }
      return error.column > 0 || /\bselector\b/.test(error.message)
        ? { title: 'The selector has an error', text: said, action: 'edit' }
        : { title: 'The server does not understand the question', text: said, action: 'none' };
    case 'nothing':
      return file && /\bfile\b/.test(error.message)
        ? {
            title: 'This file is no longer open',
            text: 'The server keeps opened files in memory, and forgets those that nobody has looked at for an hour. Open it again to go on where you were.',
            action: 'open-file',
          }
        : { title: 'There is no such thing here', text: said, action: 'retry' };
    case 'limit':
      return { title: 'That is more than the server allows', text: said, action: 'shorten' };
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
