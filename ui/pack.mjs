// Usage: node pack.mjs DIST OUT
//
// Makes OUT/ui_assets.cc of the files that Vite wrote to DIST: each as it is, and packed by brotli and gzip, so that the
// server packs nothing. The bytes are brought in by the assembler (.incbin): as text they would take a compiler seconds.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const [dist, out] = process.argv.slice(2).map((path) => resolve(path));

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
// Below this, the header of the packing weighs more than it saves.
const leastPacked = 256;

function pack(content) {
  if (content.length < leastPacked) return {};
  const gzip = gzipSync(content, { level: 9 });
  const brotli = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { gzip, brotli };
}

const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(dist, join(entry.parentPath ?? entry.path, entry.name)))
  .sort();

mkdirSync(out, { recursive: true });
const assembly = [];
const rows = [];
const symbols = [];
files.forEach((path, index) => {
  const type = types[extname(path)];
  if (!type) throw new Error(`${path}: what type is this? Add its ending to ui/pack.mjs`);
  const content = readFileSync(join(dist, path));
  const tag = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const views = Object.entries({ content, ...pack(content) }).map(([form, bytes]) => {
    const file = join(out, `${index}.${form}`);
    writeFileSync(file, bytes);
    const symbol = `vesta_ui_${index}_${form}`;
    assembly.push(`${symbol}: .incbin "${file}"`);
    symbols.push(symbol);
    return `{${symbol}, ${bytes.length}}`;
  });
  while (views.length < 3) views.push('{}');
  rows.push(`    {"${path}", "${type}", "\\"${tag}\\"", ${path.startsWith('assets/')}, ${views.join(', ')}},`);
});

writeFileSync(
  join(out, 'ui_assets.cc'),
  `// Made by ui/pack.mjs. The tags change with the bytes, and with them this text: a compiler cache notices.
#include "server/ui/ui_assets.h"

__asm__(R"(
.pushsection .rodata
${assembly.join('\n')}
.popsection
)");

extern "C" {
${symbols.map((symbol) => `extern const char ${symbol}[];`).join('\n')}
}

namespace vesta::server {
namespace {

const UiAsset kAssets[] = {
${rows.join('\n')}
};

}  // namespace

std::span<const UiAsset> ui_assets() {
  return kAssets;
}

}  // namespace vesta::server
`,
);
