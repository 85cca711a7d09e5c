import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readExamples, readPrograms, readRecipes } from './documented-examples.ts';
import { runTool } from './run-tool.ts';
import { listFiles, REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

/** Where others add something. */
const EXTENSION_POINTS = [
  'packages/engine/sync/src/dataset/dataset.ts Dataset',
  'packages/engine/sync/src/dataset/projection.ts Projection',
  'packages/assets/nft/src/trades/marketplace.ts Marketplace',
  'packages/engine/http/src/api-dependencies.ts RouteModule',
  'packages/products/streams/src/item-types.ts ITEM_TYPES',
];

test('the examples in doc comments, recipes and pages compile, and each extension point has one', async () => {
  const text = await readFile(join(REPOSITORY_ROOT, 'docs/internals/recipes.md'), 'utf8');
  const recipes = readRecipes(text);
  expect(recipes.map(({ path }) => path)).toEqual(['packages/assets/erc20/src/approvals/approval-counts.ts']);
  for (const { code } of recipes) expect(code.split('\n').length).toBeLessThanOrEqual(40);
  const pages = await Promise.all(
    listFiles('docs/*.md').map(async (path) => ({
      path,
      text: await readFile(join(REPOSITORY_ROOT, path), 'utf8'),
    })),
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
  expect(readExamples({ path: 'packages/foundation/core/src/a.ts', text })).toEqual([
    {
      path: 'packages/foundation/core/src/a.ts',
      of: 'Thing',
      code: [
        `import { thing } from '${REPOSITORY_ROOT.replace(/\/$/, '')}/packages/foundation/core/src/thing.ts';`,
        "import { log } from '@chainstead/core';",
        'if (thing) {',
        '  log(thing);',
        '}',
      ].join('\n'),
    },
  ]);
});
