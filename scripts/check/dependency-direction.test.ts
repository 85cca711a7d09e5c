import { describe, expect, it } from 'vitest';
import {
  findCircles,
  findFlatPackages,
  findFolderCircles,
  findTypeCircles,
  findUnboundedDecoders,
  findWrongImports,
  type Module,
  readImports,
} from './dependency-direction.ts';

const importing = (path: string, ...specifiers: string[]): Module => ({
  path,
  imports: specifiers.map((specifier) => ({ specifier, isTypeOnly: false, names: [] })),
});

describe('readImports', () => {
  it('finds plain, type-only, side-effect, multi-line, re-exporting and dynamic imports', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from '@chainstead/core';",
      "import './effect.ts';",
      'import {',
      '  c,',
      "} from '@chainstead/db';",
      "export * from './d.ts';",
      "const e = await import('./e.ts');",
      '// import of nothing',
      "export const text = 'x from y';",
    ].join('\n');
    expect(readImports(text)).toEqual([
      { specifier: './a.ts', isTypeOnly: false, names: ['a'] },
      { specifier: '@chainstead/core', isTypeOnly: true, names: [] },
      { specifier: './effect.ts', isTypeOnly: false, names: [] },
      { specifier: '@chainstead/db', isTypeOnly: false, names: ['c'] },
      { specifier: './d.ts', isTypeOnly: false, names: ['*'] },
      { specifier: './e.ts', isTypeOnly: false, names: ['*'] },
    ]);
  });
});

describe('findUnboundedDecoders', () => {
  const found = (path: string, text: string) => findUnboundedDecoders([{ path, imports: readImports(text) }]);
  it.each([
    "import { decodeAbiParameters } from 'viem';",
    "import {\n  decodeFunctionResult as decode,\n} from 'viem/utils';",
    "import { getEnsName } from 'viem/actions';",
    "import * as viem from 'viem';",
    "export { decodeErrorResult } from 'viem';",
    "const viem = await import('viem');",
  ])('refuses %s in the product alone', (text) => {
    expect(found('packages/assets/tokens/src/names/a.ts', text)).toHaveLength(1);
    expect(found('packages/assets/tokens/src/names/a.test.ts', text)).toEqual([]);
  });
});

describe('findWrongImports', () => {
  it.each([
    ['packages/engine/sync/src/a.ts', '@chainstead/db'],
    ['packages/foundation/chains/src/a.ts', '@chainstead/core'],
    ['apps/chainstead/src/a.ts', '@chainstead/console'],
    ['packages/engine/sync/src/a.test.ts', '@chainstead/testkit'],
    ['tests/testkit/src/a.ts', '@chainstead/rpc'],
    ['tests/acceptance/src/a.test.ts', 'chainstead/src/demo/devnet/devnet.ts'],
    ['packages/assets/nft/src/a.test.ts', '@chainstead/http/testing'],
    ['packages/engine/http/src/testing/a.ts', '@chainstead/testkit'],
    ['packages/engine/sync/src/a.ts', './b.ts'],
    ['packages/engine/sync/src/a.test.ts', './testing/b.ts'],
    ['packages/engine/sync/src/testing/a.ts', '../../src/histories/testing/b.ts'],
    ['packages/engine/sync/src/a.ts', 'node:fs'],
  ])('lets %s import %s', (path, specifier) => {
    expect(findWrongImports([importing(path, specifier)])).toEqual([]);
  });

  it.each([
    ['packages/foundation/core/src/a.ts', '@chainstead/chains', 'chains is not below core, or to its left'],
    ['packages/doors/db/src/a.ts', '@chainstead/jobs', 'jobs is not below db, or to its left'],
    ['packages/engine/sync/src/a.ts', '@chainstead/tokens', 'tokens is not below sync, or to its left'],
    ['packages/assets/erc20/src/a.ts', '@chainstead/streams', 'streams is not below erc20, or to its left'],
    ['packages/assets/erc20/src/a.test.ts', '@chainstead/nft/testing', 'nft is not below erc20, or to its left'],
    [
      'packages/assets/nft/src/a.ts',
      '@chainstead/http/testing',
      'only tests may import what is in a testing folder',
    ],
    ['packages/engine/sync/src/a.ts', '@chainstead/testkit', 'only tests and benchmarks may'],
    ['apps/chainstead/src/demo/demo.ts', '@chainstead/testkit', 'only tests and benchmarks may'],
    [
      'packages/engine/sync/src/a.ts',
      'chainstead/src/demo/devnet/devnet.ts',
      'only tests may import the program',
    ],
    ['packages/engine/sync/src/a.ts', './testing/b.ts', 'only tests may import what is in a testing folder'],
    [
      'packages/engine/sync/src/a.ts',
      '../../../doors/db/src/b.ts',
      'leaves its package; import the package by its name',
    ],
  ])('refuses %s importing %s', (path, specifier, reason) => {
    expect(findWrongImports([importing(path, specifier)])).toEqual([`${path} imports ${specifier}: ${reason}`]);
  });
});

describe('findCircles', () => {
  it('finds modules that import each other and passes over type-only imports', () => {
    const modules: Module[] = [
      importing('packages/assets/a/src/one.ts', './two.ts'),
      importing('packages/assets/a/src/two.ts', './three.ts'),
      importing('packages/assets/a/src/three.ts', './one.ts'),
      importing('packages/assets/a/src/four.ts', './five.ts'),
      {
        path: 'packages/assets/a/src/five.ts',
        imports: [{ specifier: './four.ts', isTypeOnly: true, names: [] }],
      },
    ];
    expect(findCircles(modules)).toEqual([
      'packages/assets/a/src/one.ts → packages/assets/a/src/two.ts → packages/assets/a/src/three.ts → packages/assets/a/src/one.ts',
    ]);
  });
});

describe('findTypeCircles', () => {
  it('finds product files that know each other by types', () => {
    const circle: Module[] = [
      importing('packages/engine/http/src/one.ts', './two.ts'),
      {
        path: 'packages/engine/http/src/two.ts',
        imports: [{ specifier: './one.ts', isTypeOnly: true, names: [] }],
      },
    ];
    expect(findTypeCircles(circle)).toEqual([
      'packages/engine/http/src/one.ts → packages/engine/http/src/two.ts → packages/engine/http/src/one.ts',
    ]);
    expect(findTypeCircles([importing('packages/engine/http/src/one.test.ts', './one.test.ts')])).toEqual([]);
  });
});

describe('findFolderCircles', () => {
  it('finds folders beside each other that import each other, by types too', () => {
    const modules: Module[] = [
      importing('packages/assets/a/src/one/x.ts', '../two/y.ts'),
      {
        path: 'packages/assets/a/src/two/deep/z.ts',
        imports: [{ specifier: '../../one/x.ts', isTypeOnly: true, names: [] }],
      },
    ];
    expect(findFolderCircles(modules)).toEqual([
      'packages/assets/a/src/one → packages/assets/a/src/two → packages/assets/a/src/one',
    ]);
  });

  it('finds a file that imports a folder beside it and is imported there', () => {
    const modules: Module[] = [
      importing('packages/assets/a/src/one/x.ts', '../two/y.ts'),
      importing('packages/assets/a/src/two/y.ts', '../base.ts'),
      importing('packages/assets/a/src/base.ts', './one/x.ts'),
    ];
    expect(findFolderCircles(modules)).toEqual([
      'packages/assets/a/src/one → packages/assets/a/src/two → packages/assets/a/src/base.ts → packages/assets/a/src/one',
    ]);
  });
});

describe('findFlatPackages', () => {
  const filesIn = (folder: string, count: number): Module[] =>
    Array.from({ length: count }, (_, index) => importing(`packages/assets/a/src/${folder}file-${index}.ts`));

  it('finds more than twelve files directly in src', () => {
    expect(findFlatPackages(filesIn('', 13))).toEqual([
      'packages/assets/a/src has 13 files, of at most 12: sort them into folders',
    ]);
  });
});
