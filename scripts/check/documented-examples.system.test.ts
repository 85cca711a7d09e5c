import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readExamples, readPrograms, readRecipes } from './documented-examples.ts';
import { runTool } from './run-tool.ts';
import { listFiles, REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

/** Where others add something. */
const EXTENSION_POINTS = [
  'packages/sync/src/dataset/dataset.ts Dataset',
  'packages/sync/src/dataset/projection.ts Projection',
  'packages/nft/src/trades/marketplace.ts Marketplace',
  'packages/http/src/api-dependencies.ts RouteModule',
  'packages/streams/src/item-types.ts ITEM_TYPES',
];

test('the examples in doc comments, recipes and pages compile, and each extension point has one', async () => {
  const text = await readFile(join(REPOSITORY_ROOT, 'docs/internals/recipes.md'), 'utf8');
  const recipes = readRecipes(text);
  expect(recipes.map(({ path }) => path)).toEqual(['packages/erc20/src/approvals/approval-counts.ts']);
  for (const { code } of recipes) expect(code.split('\n').length).toBeLessThanOrEqual(40);
  const pages = await Promise.all(
    listFiles('docs/*.md').map(async (path) => ({ path, text: await readFile(join(REPOSITORY_ROOT, path), 'utf8') })),
  );
  const programs = pages.flatMap(readPrograms);
  expect(programs.map(({ path }) => path)).toEqual(['docs/migrate/sdk.md', 'docs/migrate/sdk.md']);
  const examples = [...readSourceFiles().flatMap(readExamples), ...recipes, ...programs];
  expect(examples.map(({ path, of }) => `${path} ${of}`)).toEqual(expect.arrayContaining(EXTENSION_POINTS));

  // Packages are found from below the root alone.
  const cache = join(REPOSITORY_ROOT, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'examples-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = await Promise.all(
    examples.map(async ({ of, code }, index) => {
      const file = join(folder, `${index}-${of}.ts`);
      await writeFile(file, code);
      return file;
    }),
  );
  const configuration = join(folder, 'tsconfig.json');
  await writeFile(
    configuration,
    JSON.stringify({ extends: join(REPOSITORY_ROOT, 'tsconfig.json'), files, include: [] }),
  );
  const { exitCode, output } = await runTool('tsc', ['--noEmit', '-p', configuration]);
  expect(output).toBe('');
  expect(exitCode).toBe(0);
});

test('an example is read from the comment above what is exported, wherever it is put', () => {
  const text = [
    '/** Nothing. */',
    'export const other = 1;',
    '/**',
    ' * A thing.',
    ' *',
    ' * @example',
    ' * ```ts',
    " * import { thing } from './thing.ts';",
    " * import { log } from '@chainstead/core';",
    ' * if (thing) {',
    ' *   log(thing);',
    ' * }',
    ' * ```',
    ' */',
    'export interface Thing {}',
  ].join('\n');
  expect(readExamples({ path: 'packages/core/src/a.ts', text })).toEqual([
    {
      path: 'packages/core/src/a.ts',
      of: 'Thing',
      code: [
        `import { thing } from '${REPOSITORY_ROOT.replace(/\/$/, '')}/packages/core/src/thing.ts';`,
        "import { log } from '@chainstead/core';",
        'if (thing) {',
        '  log(thing);',
        '}',
      ].join('\n'),
    },
  ]);
});
