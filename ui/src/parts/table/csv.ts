// Tables as CSV (RFC 4180). A name that a spreadsheet would run as a formula gets a quote in front: names come from
// programs that nobody here wrote.
const formula = /^[\s]*[=+\-@\t\r]/;

export function csvCell(value: string | number): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvText(headings: readonly string[], rows: Iterable<readonly (string | number)[]>): string {
  const lines = [headings.map(csvCell).join(',')];
  for (const row of rows) lines.push(row.map(csvCell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}
