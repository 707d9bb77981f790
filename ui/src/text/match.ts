// What the search box means, in every view alike: a substring of the name in any case, or /expression/ with flags. The
// same search as an expression for the server, which looks at what a cut answer does not have.
export interface Match {
  empty: boolean; // nothing is searched: everything matches
  error: string; // why the expression is none; then nothing matches
  test(name: string): boolean;
}

const everything: Match = { empty: true, error: '', test: () => true };
const slashed = /^\/(.+)\/([a-z]*)$/s;

export function matchOf(search: string): Match {
  if (search.trim() === '') return everything;
  const parts = slashed.exec(search);
  if (!parts) {
    const wanted = search.toLowerCase();
    return { empty: false, error: '', test: (name) => name.toLowerCase().includes(wanted) };
  }
  try {
    // g and y would make test() remember where it was.
    const expression = new RegExp(parts[1], parts[2].replace(/[gy]/g, ''));
    return { empty: false, error: '', test: (name) => expression.test(name) };
  } catch (error) {
    return { empty: false, error: error instanceof Error ? error.message : String(error), test: () => false };
  }
}

export function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// For parameters that take an RE2 expression; empty when nothing is searched.
export function serverExpression(search: string): string {
  if (search.trim() === '') return '';
  const parts = slashed.exec(search);
  if (!parts) return `(?i)${escapeExpression(search)}`;
  const flags = parts[2].replace(/[^ims]/g, '');
  return flags ? `(?${flags})${parts[1]}` : parts[1];
}
