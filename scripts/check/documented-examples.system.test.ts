import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readExamples } from './documented-examples.ts';
import { runTool } from './run-tool.ts';
import { REPOSITORY_ROOT, readSourceFiles } from './source-files.ts';

/** Where others add something. */
const EXTENSION_POINTS = [
  'packages/sync/src/dataset.ts Dataset',
  'packages/sync/src/dataset.ts DerivedState',
  'packages/nft/src/trades/marketplace.ts Marketplace',
  'packages/http/src/route-module.ts RouteModule',
  'packages/streams/src/item-types.ts ITEM_TYPES',
];

test('the examples in doc comments compile, and each extension point has one', async () => {
  const examples = readSourceFiles().flatMap(readExamples);
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
