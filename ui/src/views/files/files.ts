// Files that people open: sent to the server, which keeps them in memory, and looked at like everything else.
import { ApiError, askJson, call, upload } from '../../api/client';
import { serverConfig } from '../../api/server_config';
import { toast } from '../../parts/toast';
import type { Source, State } from '../../state/state';
import { go, state } from '../../state/store';
import { formatValue } from '../../text/format';
import { readFormats } from '../../text/formats.gen';
import { mainType } from '../../text/profile_types';
import { visibleText } from '../../text/safe';

export interface FileType {
  profile_type: string;
  name: string;
  type: string;
  unit: string;
  total: number;
  samples: number;
}
export interface OpenedFile {
  id: string;
  name: string;
  format: string;
  from_ns: number;
  to_ns: number;
  types: FileType[];
  labels?: string[];
}

export const accepted = `${readFormats}; gzip and zstd too`;

// The type to show first: CPU time if the file has it, else what it has most samples of.
export function firstType(file: Pick<OpenedFile, 'types'>): string {
  const best =
    file.types.find((type) => type.name === mainType.word) ?? file.types.toSorted((a, b) => b.samples - a.samples)[0];
  return best ? `${best.name || best.profile_type}{}` : '{}';
}

// A type that both have, so that like is compared with like.
export function commonType(a: Pick<OpenedFile, 'types'>, b: Pick<OpenedFile, 'types'>): string {
  const shared = a.types.filter((type) => b.types.some((other) => other.profile_type === type.profile_type));
  return firstType({ types: shared.length > 0 ? shared : a.types });
}

interface Dated {
  name: string;
  lastModified: number;
}
// Which of two files is the one before: the older one; of the same age, the one whose name comes first.
export function orderPair<T extends Dated>(a: T, b: T): { before: T; after: T; by: string } {
  if (a.lastModified !== b.lastModified) {
    const [before, after] = a.lastModified < b.lastModified ? [a, b] : [b, a];
    return { before, after, by: 'the older file' };
  }
  const [before, after] = a.name <= b.name ? [a, b] : [b, a];
  return { before, after, by: 'first by name' };
}

const nothingSet: Partial<State> = {
  steps: [],
  zoom: [],
  sandwich: '',
  root: '',
  trace: '',
  span: '',
  sampleLabels: '',
};

function sourceOf(file: Pick<OpenedFile, 'id'>, query: string): Source {
  // The range of the store stays for the way back.
  const { from, to } = state.value.source;
  return { query, from, to, file: file.id };
}

export function lookAt(file: OpenedFile) {
  go({ ...nothingSet, view: 'explore', source: sourceOf(file, firstType(file)), baseline: null });
}

export function compareFiles(before: OpenedFile, after: OpenedFile) {
  const query = commonType(after, before);
  go({ ...nothingSet, view: 'diff', source: sourceOf(after, query), baseline: sourceOf(before, query) });
}

async function send(file: File, watch: Watch): Promise<OpenedFile> {
  const most = serverConfig.value.limits?.file_bytes ?? 0;
  if (most > 0 && file.size > most) {
    const [size, limit] = [file.size, most].map((bytes) => formatValue(bytes, 'bytes'));
    throw new ApiError('limit', `the file has ${size}, and this server reads at most ${limit}`);
  }
  const response = await upload('files', new URLSearchParams({ name: file.name }), file, {
    signal: watch.signal,
    onSent: (bytes) => watch.onSent(file, bytes),
  });
  return response.json();
}

export interface OpenFailure {
  name: string;
  message: string;
  hint: string;
}
export function failureOf(name: string, error: unknown): OpenFailure {
  const [message, hint] = error instanceof ApiError ? [error.message, error.hint] : [String(error), ''];
  return { name: visibleText(name), message: visibleText(message), hint: visibleText(hint) };
}

export interface Watch {
  signal?: AbortSignal;
  onSent(file: File, bytes: number): void;
}

// One file is looked at, two are compared; more are opened and listed. Rejects when the signal stops it.
export async function openFiles(files: readonly File[], watch: Watch): Promise<OpenFailure[]> {
  const failures: OpenFailure[] = [];
  const opened: { file: File; answer: OpenedFile }[] = [];
  for (const file of files) {
    try {
      watch.onSent(file, 0);
      opened.push({ file, answer: await send(file, watch) });
    } catch (error) {
      if (watch.signal?.aborted) throw error;
      failures.push(failureOf(file.name, error));
    }
  }
  if (opened.length === 2) {
    const dated = opened.map(({ file, answer }) => ({ name: file.name, lastModified: file.lastModified, answer }));
    const { before, after, by } = orderPair(dated[0], dated[1]);
    compareFiles(before.answer, after.answer);
    toast(`${visibleText(after.name)} compared with ${visibleText(before.name)} (the baseline: ${by})`);
  } else if (opened.length > 0) {
    lookAt(opened[0].answer);
    if (opened.length > 2) toast(`${opened.length} files opened; this is the first. The others are under Open file.`);
  }
  return failures;
}

export async function listFiles(signal?: AbortSignal): Promise<OpenedFile[]> {
  const answer = await askJson<{ files: OpenedFile[] } | OpenedFile[]>('files', new URLSearchParams(), signal);
  return Array.isArray(answer) ? answer : answer.files;
}

export async function forgetFile(id: string) {
  await call(`files/${encodeURIComponent(id)}`, new URLSearchParams(), { method: 'DELETE' });
}
