import { describe, expect, it } from 'vitest';
import { type Lock, lockedDependencies } from './locked-dependencies.ts';
import type { PackageManifest } from './package-manifest.ts';

const MANIFEST: PackageManifest = {
  name: 'chainstead',
  version: '1.0.0',
  description: '',
  license: 'Apache-2.0',
  type: 'module',
  bin: {},
  engines: {},
  repository: { type: 'git', url: 'git+https://example.com/a.git' },
  dependencies: { a: '1.0.0', b: '2.0.0' },
  optionalDependencies: { runtime: '26.0.0' },
};

const LOCK: Lock = {
  lockfileVersion: 3,
  packages: {
    '': {},
    'packages/foundation/core': { dependencies: { a: '1.0.0' } },
    'node_modules/a': { version: '1.0.0', dependencies: { shared: '^1.0.0' } },
    'node_modules/b': {
      version: '2.0.0',
      dependencies: { shared: '^2.0.0', native: '*' },
      optionalDependencies: { native: '*' },
      peerDependencies: { peer: '*', spared: '*' },
      peerDependenciesMeta: { spared: { optional: true } },
    },
    'node_modules/b/node_modules/shared': { version: '2.3.0', dependencies: { deep: '*' } },
    'node_modules/shared': { version: '1.4.0', dev: true },
    'node_modules/deep': { version: '0.1.0', devOptional: true },
    'node_modules/native': { version: '0.2.0', optional: true },
    'node_modules/peer': { version: '0.3.0' },
    'node_modules/spared': { version: '0.4.0' },
    'node_modules/runtime': { version: '26.0.0', optional: true },
    'node_modules/tool': { version: '9.0.0', dev: true },
  },
};

describe('the lock of the package', () => {
  const { packages } = lockedDependencies(MANIFEST, LOCK);

  it('has what the package reaches, at the places of the checkout, and nothing else', () => {
    expect(Object.keys(packages)).toEqual([
      '',
      'node_modules/a',
      'node_modules/b',
      'node_modules/b/node_modules/shared',
      'node_modules/deep',
      'node_modules/native',
      'node_modules/peer',
      'node_modules/runtime',
      'node_modules/shared',
    ]);
    expect(packages['']).toMatchObject({ dependencies: MANIFEST.dependencies });
  });

  it('says what may be missing, and keeps nothing that the checkout alone means', () => {
    const optional = Object.entries(packages).filter(([, { optional: isOptional }]) => isOptional === true);
    expect(optional.map(([place]) => place)).toEqual(['node_modules/native', 'node_modules/runtime']);
    expect(packages['node_modules/shared']).toEqual({ version: '1.4.0' });
    expect(packages['node_modules/deep']).toEqual({ version: '0.1.0' });
  });

  it('is refused where the checkout has another version, or lacks one', () => {
    const other = { ...MANIFEST, dependencies: { a: '1.0.1' } };
    expect(() => lockedDependencies(other, LOCK)).toThrow('has a 1.0.0, not 1.0.1');
    const { 'node_modules/deep': _, ...rest } = LOCK.packages;
    expect(() => lockedDependencies(MANIFEST, { ...LOCK, packages: rest })).toThrow(
      /lacks deep, which .*shared needs/,
    );
  });
});
