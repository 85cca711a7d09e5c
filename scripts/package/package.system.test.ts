/** The package without installing it: what goes into it, and that everything that code finds by its own place is there. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFiles, REPOSITORY_ROOT } from '../check/source-files.ts';
import { type Bundle, bundleProgram } from './bundle-program.ts';
import { writeManifests } from './demo-tools.ts';
import { copyFiles, type PackagedFile, packagedFiles } from './package-files.ts';
import { DEMO_TOOLS, type PackageManifest, packageManifest } from './package-manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'chainstead-package-test-'));
const source = (path: string): string => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
let bundle: Bundle;
let files: readonly PackagedFile[];
let manifest: PackageManifest;

beforeAll(async () => {
  bundle = await bundleProgram(join(folder, 'dist'));
  files = packagedFiles(bundle.modules);
  await copyFiles(files, folder);
  manifest = packageManifest([...bundle.modules, ...files.map(({ from }) => from)], bundle.imported);
  await writeManifests(folder, manifest);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('has a file for each process, and the program that starts them', () => {
    for (const file of ['dist/main.js', 'dist/role-process.js', 'dist/backfill-process.js', 'bin/chainstead.js'])
      expect([file, existsSync(join(folder, file))]).toEqual([file, true]);
  });

  it('has every migration, and what readers and operators need', () => {
    for (const file of [...listFiles('migrations/*.sql'), 'LICENSE', 'README.md', 'docs/operate/runbook.md'])
      expect([file, existsSync(join(folder, file))]).toEqual([file, true]);
  });

  it('has what its modules find by their own place', () => {
    const found = bundle.modules.flatMap((module) =>
      [...source(module).matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, path = '']) => ({
        module,
        path,
      })),
    );
    expect(found.map(({ path }) => path)).toContain('../../../../../migrations');
    for (const { module, path } of found) {
      const place = path.endsWith('.ts')
        ? join('dist', path.replace(/^.*\/(.+)\.ts$/, '$1.js'))
        : join(dirname(module), path);
      expect([module, path, existsSync(join(folder, place))]).toEqual([module, path, true]);
    }
    expect(bundle.modules.filter((module) => /import\.meta\.(?:dirname|filename)/.test(source(module)))).toEqual(
      [],
    );
    expect(existsSync(join(folder, 'apps/chainstead/contracts/DemoToken.sol'))).toBe(true);
  });

  it('has the chain of the demo, and no tests', () => {
    expect(bundle.modules.filter((module) => /\.test\.ts$|^tests\//.test(module))).toEqual([]);
    expect(bundle.modules).toContain('apps/chainstead/src/demo/devnet/devnet.ts');
    for (const tool of ['testcontainers', 'fast-check', 'vitest', 'moralis', ...DEMO_TOOLS])
      expect(Object.keys(manifest.dependencies)).not.toContain(tool);
  });

  it('depends on exactly the versions of the workspaces, on no Node, and is no workspace itself', () => {
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith('@chainstead/'))).toEqual([]);
    expect(manifest.optionalDependencies).toEqual({});
    expect(manifest).not.toHaveProperty('workspaces');
    expect(manifest).not.toHaveProperty('private');
  });

  it('lists the tools of the demo apart, each locked with its digest', () => {
    const { packages } = JSON.parse(readFileSync(join(folder, 'demo-tools/npm-shrinkwrap.json'), 'utf8'));
    expect(Object.keys(packages[''].dependencies)).toEqual(DEMO_TOOLS);
    for (const tool of [...DEMO_TOOLS, '@foundry-rs/anvil-linux-amd64'])
      expect(packages[`node_modules/${tool}`]).toMatchObject({
        version: expect.stringMatching(/^\d+\./),
        integrity: expect.stringMatching(/^sha512-/),
      });
  });

  it.each([
    ['20.20.2', 1],
    ['22.20.0', 1],
    ['22.21.0', 0],
    ['24.0.0', 0],
  ])(
    'on Node %s ends with exit code %i, and names the Node that it needs if that is too old',
    (version, code) => {
      const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`;
      // The launcher alone, with an empty program: the folder has no dependencies.
      const place = join(folder, 'launcher');
      mkdirSync(join(place, 'dist'), { recursive: true });
      writeFileSync(join(place, 'dist/main.js'), '');
      cpSync(join(folder, 'bin'), join(place, 'bin'), { recursive: true });
      const launcher = join(place, 'bin/chainstead.js');
      const { status, stderr } = spawnSync(process.execPath, ['--import', older, launcher], { encoding: 'utf8' });
      expect([status, stderr]).toEqual([
        code,
        code === 0 ? '' : expect.stringContaining('needs Node 22.21 or newer'),
      ]);
      expect(manifest.engines).toEqual({ node: '>=22.21' });
    },
  );

  it('keeps the names of errors, which logs show', () => {
    const declared = new Set(
      bundle.modules.flatMap((module) =>
        [...source(module).matchAll(/class (\w+Error)\b/g)].map(([, name]) => name),
      ),
    );
    expect(declared.size).toBeGreaterThan(20);
    const bundled = new Set(
      readBundled().flatMap((text) => [...text.matchAll(/class (\w+Error\d*) extends/g)].map(([, name]) => name)),
    );
    expect([...bundled].filter((name) => !declared.has(name))).toEqual([]);
  });
});

function readBundled(): string[] {
  const own = join(folder, 'dist');
  return [
    ...new Set(
      ['main.js', 'role-process.js', 'backfill-process.js'].flatMap((name) => chunksFrom(own, name, new Set())),
    ),
  ];
}

/** A bundled file and those that it imports. */
function chunksFrom(own: string, name: string, seen: Set<string>): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const text = readFileSync(join(own, name), 'utf8');
  const imported = [...text.matchAll(/(?:from|import|import\() ?"\.\/([^"]+\.js)"/g)].map(
    ([, file = '']) => file,
  );
  return [text, ...imported.flatMap((file) => chunksFrom(own, file, seen))];
}
