// The folders of src/ and what each may import: down this list, never up. A reader who stands in one of them knows what
// a change there can break.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const layers: Record<string, readonly string[]> = {
  state: [],
  api: ['state'],
  text: ['state', 'api'],
  engine: ['state', 'api', 'text'],
  parts: ['state', 'api', 'text'],
  flame: ['state', 'api', 'text', 'engine', 'parts'],
  views: ['state', 'api', 'text', 'engine', 'parts', 'flame'],
  standalone: ['state', 'api', 'text', 'engine', 'parts', 'flame', 'views', 'style'],
  app: ['state', 'api', 'text', 'engine', 'parts', 'flame', 'views'],
};

const root = import.meta.dirname;

interface Import {
  from: string; // relative to src/
  to: string; // a file of ours, or the name of a package
  typesOnly: boolean;
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|(?:^|\n)import\s+'([^']+)'|import\('([^']+)'\)/g;

function fileOf(path: string): string {
  return ['', '.ts', '.tsx'].map((ending) => path + ending).find((file) => existsSync(join(root, file))) ?? path;
}

export function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(statement)].map(([, type, named, plain, later]) => {
    const target = named ?? plain ?? later;
    const isOurs = target.startsWith('.');
    return {
      from,
      to: isOurs ? fileOf(normalize(join(dirname(from), target))) : target,
      typesOnly: type !== undefined,
    };
  });
}

const isTest = (file: string) => /\.test\.tsx?$/.test(file) || file.includes('/testing/');
const sources = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => file.includes('/') && !isTest(file));
const imports = sources.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
const folderOf = (file: string) => file.split('/')[0];
const isOurs = (file: string) => existsSync(join(root, file));

describe('the folders', () => {
  it('are all in the table', () => {
    expect([...new Set(sources.map(folderOf))].filter((folder) => !(folder in layers))).toEqual([]);
  });

  it('import what is below them only', () => {
    const upwards = imports
      .filter(({ to }) => isOurs(to) && to.includes('/'))
      .filter(({ from, to }) => folderOf(from) !== folderOf(to) && !layers[folderOf(from)].includes(folderOf(to)))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(upwards).toEqual([]);
  });
});

describe('the engine', () => {
  it('runs no framework, with all that it imports', () => {
    const seen = new Set(sources.filter((file) => folderOf(file) === 'engine'));
    const packages: string[] = [];
    for (const file of seen) {
      for (const { to, typesOnly } of imports.filter(({ from }) => from === file)) {
        if (typesOnly) continue;
        if (isOurs(to)) seen.add(to);
        else packages.push(`${file} imports ${to}`);
      }
    }
    expect(packages).toEqual([]);
  });
});

describe('the check itself', () => {
  it('sees every form of import', () => {
    const text = `import { a } from '../app/a';\nimport type { B } from '../app/b';\nimport '../app/c.css';\nexport { d } from '../app/d';\nconst e = import('../app/e');\nimport {\n  f,\n} from '../app/f';\n`;
    expect(importsOf('engine/x.ts', text).map(({ to, typesOnly }) => [to, typesOnly])).toEqual([
      ['app/a', false],
      ['app/b', true],
      ['app/c.css', false],
      ['app/d', false],
      ['app/e', false],
      ['app/f', false],
    ]);
  });
});
