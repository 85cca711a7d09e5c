/**
 * `npm run new:dataset -- --name vault-deposits --topic 'Deposit(address indexed sender, uint256 assets)'`: a folder of apps/chainstead/src/datasets with
 * everything that a dataset has, its line in `manifests.ts`, and what is generated from both.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { describeDataset } from './new-dataset/dataset-names.ts';
import { newDatasetFiles, withManifestLine } from './new-dataset/new-dataset-files.ts';
import { parseEvent } from './new-dataset/parse-event.ts';

const PACKAGE = join(REPOSITORY_ROOT, 'apps/chainstead/src/datasets');

try {
  const { values } = parseArgs({ options: { name: { type: 'string' }, topic: { type: 'string' } } });
  if (values.name === undefined || values.topic === undefined)
    throw new Error("Both are needed: --name vault-deposits --topic 'Deposit(address indexed sender, uint256 assets)'");
  createDataset(values.name, values.topic);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function createDataset(name: string, topic: string): void {
  const dataset = describeDataset(name, parseEvent(topic));
  const folder = join(PACKAGE, name);
  if (existsSync(folder)) throw new Error(`${folder} exists: choose another name, or remove it`);
  for (const { path, text } of newDatasetFiles(dataset)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const manifests = join(PACKAGE, 'manifests.ts');
  writeFileSync(manifests, withManifestLine(readFileSync(manifests, 'utf8'), dataset));
  run(join(REPOSITORY_ROOT, 'node_modules/.bin/biome'), 'check', '--write', folder, manifests);
  run(process.execPath, 'scripts/generate.ts');
  run(process.execPath, 'scripts/generate-migration.ts');
  console.log(
    `Made apps/chainstead/src/datasets/${name}. Next: npm test -- apps/chainstead/src/datasets/${name} && npm run check`,
  );
}

function run(command: string, ...args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: REPOSITORY_ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: see its output above`);
}
