import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../check/source-files.ts';
import { type Lock, type LockedManifest, lockedDependencies } from './locked-dependencies.ts';
import { DEMO_TOOLS, type PackageManifest, readManifest } from './package-manifest.ts';

const LIST = 'demo-tools';

/** Writes the manifest and the lock of the published package, and those of the demo's tools. */
export async function writeManifests(folder: string, manifest: PackageManifest): Promise<void> {
  const lock: Lock = JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'package-lock.json'), 'utf8'));
  await writeWithLock(folder, manifest, lock);
  const declared = readManifest('apps/chainstead').dependencies ?? {};
  const dependencies = Object.fromEntries(DEMO_TOOLS.map((name) => [name, declared[name] ?? 'undeclared']));
  const tools = { name: LIST, version: manifest.version, dependencies, optionalDependencies: {} };
  await writeWithLock(join(folder, LIST), tools, lock);
}

async function writeWithLock(folder: string, manifest: LockedManifest, lock: Lock): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeJson(join(folder, 'package.json'), manifest);
  await writeJson(join(folder, 'npm-shrinkwrap.json'), lockedDependencies(manifest, lock));
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
