/**
 * `npm run pack`: makes the one package that is published, `build/chainstead-<version>.tgz`, from the checkout: the program bundled, what it reads, a
 * manifest and a lock of what it depends on. Says what it holds.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { bundleProgram } from './package/bundle-program.ts';
import { writeManifests } from './package/demo-tools.ts';
import { copyFiles, packagedFiles } from './package/package-files.ts';
import { packageManifest } from './package/package-manifest.ts';

const BUILD = join(REPOSITORY_ROOT, 'build');
const folder = join(BUILD, 'package');

await rm(BUILD, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const { modules, imported } = await bundleProgram(join(folder, 'dist'));
const files = packagedFiles(modules);
await copyFiles(files, folder);
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
// Provenance has to agree with it, also for a fork.
const repository =
  GITHUB_REPOSITORY === undefined ? undefined : `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`;
const manifest = packageManifest([...modules, ...files.map(({ from }) => from)], imported, repository);
await writeManifests(folder, manifest);
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--pack-destination', BUILD], { cwd: folder, encoding: 'utf8' }),
);
console.log(
  `build/${packed.filename}: ${packed.entryCount} files, ${megabytes(packed.size)}, ${megabytes(packed.unpackedSize)} unpacked; ` +
    `${modules.length} modules, ${Object.keys(manifest.dependencies).length} dependencies`,
);

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
