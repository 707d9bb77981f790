// A file from the server to the person's disk. By request and not by link: a link could not show a token.
import { ApiError, call } from '../api/client';
import { toast } from '../parts/toast';

export function saveBlob(blob: Blob, name: string) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export async function download(path: string, parameters: URLSearchParams, name: string) {
  try {
    const response = await call(path, parameters);
    saveBlob(await response.blob(), name);
  } catch (error) {
    failed(name, error);
  }
}

export function failed(name: string, error: unknown) {
  const text = error instanceof ApiError ? [error.message, error.hint].filter(Boolean).join('; ') : String(error);
  toast(`${name} cannot be exported: ${text}`, true);
}
