import { describe, expect, it } from 'vitest';
import { findCircles, findWrongImports, type Module, readImports } from './dependency-direction.ts';

const importing = (path: string, ...specifiers: string[]): Module => ({
  path,
  imports: specifiers.map((specifier) => ({ specifier, isTypeOnly: false })),
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
      { specifier: './a.ts', isTypeOnly: false },
      { specifier: '@chainstead/core', isTypeOnly: true },
      { specifier: './effect.ts', isTypeOnly: false },
      { specifier: '@chainstead/db', isTypeOnly: false },
      { specifier: './d.ts', isTypeOnly: false },
      { specifier: './e.ts', isTypeOnly: false },
    ]);
  });
});

describe('findWrongImports', () => {
  it.each([
    ['packages/sync/src/a.ts', '@chainstead/db'],
    ['packages/chains/src/a.ts', '@chainstead/core'],
    ['packages/datasets/src/a.ts', '@chainstead/http'],
    ['apps/chainstead/src/a.ts', '@chainstead/datasets'],
    ['packages/sync/src/a.test.ts', '@chainstead/testkit'],
    ['packages/testkit/src/a.ts', '@chainstead/rpc'],
    ['apps/chainstead/src/demo/demo.ts', '@chainstead/testkit'],
    ['packages/sync/src/a.ts', './b.ts'],
    ['packages/sync/src/a.test.ts', './testing/b.ts'],
    ['packages/sync/src/testing/a.ts', '../../src/histories/testing/b.ts'],
    ['packages/sync/src/a.ts', 'node:fs'],
  ])('lets %s import %s', (path, specifier) => {
    expect(findWrongImports([importing(path, specifier)])).toEqual([]);
  });

  it.each([
    ['packages/core/src/a.ts', '@chainstead/chains', 'chains is not below core'],
    ['packages/db/src/a.ts', '@chainstead/rpc', 'rpc is not below db'],
    ['packages/sync/src/a.ts', '@chainstead/datasets', 'datasets is not below sync'],
    ['packages/testkit/src/a.ts', '@chainstead/sync', 'sync is not below testkit'],
    ['packages/sync/src/a.ts', '@chainstead/testkit', 'only tests, benchmarks and the demo may'],
    ['packages/sync/src/a.ts', './testing/b.ts', 'only tests may import what is in a testing folder'],
    ['packages/sync/src/a.ts', '../../db/src/b.ts', 'leaves its package; import the package by its name'],
  ])('refuses %s importing %s', (path, specifier, reason) => {
    expect(findWrongImports([importing(path, specifier)])).toEqual([`${path} imports ${specifier}: ${reason}`]);
  });

  it('names a package that has no layer', () => {
    expect(() => findWrongImports([importing('packages/new/src/a.ts', '@chainstead/core')])).toThrow(
      'new is in no layer',
    );
  });
});

describe('findCircles', () => {
  it('finds modules that import each other and passes over type-only imports', () => {
    const modules: Module[] = [
      importing('packages/a/src/one.ts', './two.ts'),
      importing('packages/a/src/two.ts', './three.ts'),
      importing('packages/a/src/three.ts', './one.ts'),
      importing('packages/a/src/four.ts', './five.ts'),
      { path: 'packages/a/src/five.ts', imports: [{ specifier: './four.ts', isTypeOnly: true }] },
    ];
    expect(findCircles(modules)).toEqual([
      'packages/a/src/one.ts → packages/a/src/two.ts → packages/a/src/three.ts → packages/a/src/one.ts',
    ]);
  });
});
