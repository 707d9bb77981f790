// What the browser keeps for this page; null where it keeps nothing. A page in a sandbox learns that by an exception.
export function browserStorage(kind: 'localStorage' | 'sessionStorage'): Storage | null {
  try {
    return globalThis[kind] ?? null;
  } catch {
    return null;
  }
}
