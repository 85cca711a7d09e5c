import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, it } from 'vitest';
import { readOpenApiDocument } from './testing/openapi-document.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Pages that the code points to, by their path in the repository. */
const pages = new Map(
  ['docs/api', 'docs/concepts', 'docs/reference']
    .flatMap(pagesOf)
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);
const ANCHOR = /(docs\/(?:api|concepts|reference)\/[a-z-]+\.md)#([a-z0-9-]+)/g;

function pagesOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

/** Fields in the first column of each table that follows the name of a schema. */
function fieldsBySchema(): ReadonlyMap<string, readonly string[]> {
  const tables = [...pages.values()].join('\n').matchAll(/^`(\w+)`:\n\n\| field .*\n\|[-|]+\|\n((?:\|.*\n)+)/gm);
  return new Map(
    [...tables].map(([, schema = '', rows = '']) => [
      schema,
      rows
        .trim()
        .split('\n')
        .flatMap((row) => (row.split('|')[1] ?? '').split(',').map((name) => name.trim())),
    ]),
  );
}

it('lists exactly the fields that the API gives', async () => {
  const scratch = await createScratchDatabase();
  try {
    const { schemas } = (await readOpenApiDocument(scratch)).components;
    const listed = fieldsBySchema();
    expect(listed.size).toBeGreaterThan(10);
    for (const [schema, fields] of listed)
      expect(fields.toSorted(), schema).toEqual(Object.keys(schemas[schema]?.properties ?? {}).toSorted());
  } finally {
    await scratch.drop();
  }
});

it('has every heading that the code points to', () => {
  const headings = new Set(
    [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => {
        const anchor = title
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-');
        return `${path}#${anchor}`;
      }),
    ),
  );
  const files = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => join(ROOT, folder, path)),
  );
  const pointed = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(ANCHOR)].map(([, page = '', anchor = '']) => ({
      file,
      target: `${page}#${anchor}`,
    })),
  );
  expect(pointed.length).toBeGreaterThan(50);
  expect(pointed.filter(({ target }) => !headings.has(target))).toEqual([]);
});
