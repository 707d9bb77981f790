// Numbers as text, in the same words as the command line prints them.

const TIME_SCALES = [
  ['ns', 1],
  ['us', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['hrs', 3600e9],
];
const MEMORY_SCALES = [
  ['B', 1],
  ['kB', 2 ** 10],
  ['MB', 2 ** 20],
  ['GB', 2 ** 30],
  ['TB', 2 ** 40],
];

// unit: {name, kind: 'time' | 'memory' | 'count' | 'other', toBase}
function formatValue(value, unit) {
  if (unit.kind === 'count') return value.toLocaleString('en-US');
  if (unit.kind === 'other') return `${value.toLocaleString('en-US')} ${unit.name}`.trim();
  if (value === 0) return '0';
  const scales = unit.kind === 'time' ? TIME_SCALES : MEMORY_SCALES;
  const base = value * unit.toBase;
  let [suffix, factor] = scales[0];
  for (const scale of scales) if (Math.abs(base) >= scale[1]) [suffix, factor] = scale;
  return (base / factor).toFixed(2).replace(/\.00$/, '') + suffix;
}

function formatPercent(part, whole) {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  const size = Math.abs(percent);
  if (size < 0.005) return '0%';
  if (size >= 99.95 && size <= 100.05) return percent < 0 ? '-100%' : '100%';
  return `${percent.toFixed(size >= 1000 ? 0 : 2)}%`;
}

function formatChange(before, after) {
  if (before === after) return '±0%';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  return (after > before ? '+' : '-') + formatPercent(Math.abs(after - before), Math.abs(before));
}

function formatDelta(delta, unit) {
  return (delta > 0 ? '+' : '') + formatValue(delta, unit);
}

// What a person typed as a test of names: "/re/i" is a regular expression, all else a part of the
// name in any case. Returns {test, error}; test is null for an empty query or a broken expression.
function parseQuery(query) {
  if (query === '') return { test: null, error: '' };
  const parts = /^\/(.+)\/([ims]*)$/s.exec(query);
  if (parts) {
    try {
      const expression = new RegExp(parts[1], parts[2]);
      return { test: (name) => expression.test(name), error: '' };
    } catch (problem) {
      return { test: null, error: problem.message };
    }
  }
  const wanted = query.toLowerCase();
  return { test: (name) => name.toLowerCase().includes(wanted), error: '' };
}
