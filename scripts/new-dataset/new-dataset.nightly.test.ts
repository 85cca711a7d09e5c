/** A copy of the checkout, in which the generator makes datasets whose own tests pass. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listFiles, REPOSITORY_ROOT } from '../check/source-files.ts';

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'chainstead-new-dataset-'));
  for (const path of listFiles('.')) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(REPOSITORY_ROOT, path), join(copy, path), { verbatimSymlinks: true });
  }
  linkDependencies();
  run('git', 'init', '--quiet');
  run('git', 'add', '--all');
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Dependencies as they are here, workspaces as they are in the copy. */
function linkDependencies(): void {
  const here = join(REPOSITORY_ROOT, 'node_modules');
  mkdirSync(join(copy, 'node_modules/@chainstead'), { recursive: true });
  for (const name of readdirSync(here))
    if (name !== '@chainstead' && name !== '.cache') symlinkSync(join(here, name), join(copy, 'node_modules', name));
  for (const path of globSync('packages/*/*/package.json', { cwd: copy }).map(dirname))
    symlinkSync(join(copy, path), join(copy, 'node_modules/@chainstead', basename(path)));
  mkdirSync(join(copy, 'node_modules/.cache'));
}

function run(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

test.each([
  [
    'listed by wallet',
    'burn-events',
    'Burn(address indexed account, uint256 amount, bool forced, bytes32 indexed ref)',
  ],
  ['listed by contract', 'round-ends', 'RoundEnded(uint256 round)'],
])('a dataset %s is made, with a line, a table and documents', (_, name, topic) => {
  run(process.execPath, 'scripts/new-dataset.ts', '--name', name, '--topic', topic);
  const changed = run('git', 'diff', '--name-only').trim().split('\n');
  expect(changed.toSorted()).toEqual([
    ...['.env.example', 'docs/api/endpoints.md', 'docs/api/sql.md'],
    ...['migrations/0000_initial.sql'],
    ...['apps/chainstead/src/datasets/manifests.ts', 'packages/doors/db/src/tables/dataset-tables.ts'],
  ]);
  expect(readFileSync(join(copy, 'migrations/0000_initial.sql'), 'utf8')).toMatch(
    new RegExp(
      `CREATE TABLE "${name.replace('-', '_')}" \\([^;]*\\) PARTITION BY RANGE \\("chain_id", "block_number"\\);`,
    ),
  );
  run('git', 'add', '--all');
});

test('their types are right', () => {
  run(process.execPath, 'node_modules/typescript/bin/tsc');
});

test.each(['burn-events', 'round-ends'])('the tests of %s pass', (name) => {
  run(
    process.execPath,
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project=fast',
    `apps/chainstead/src/datasets/${name}`,
  );
});

test('after a release, a dataset is a migration of its own', () => {
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@chainstead.example'];
  run('git', ...author, 'commit', '--quiet', '--message', 'Release');
  run('git', 'tag', 'v0.1.0');
  run(process.execPath, 'scripts/new-dataset.ts', '--name', 'late-events', '--topic', 'Late(address indexed who)');
  const [file = ''] = readdirSync(join(copy, 'migrations')).filter((name) => name.startsWith('0001_'));
  expect(readFileSync(join(copy, 'migrations', file), 'utf8')).toMatch(
    /^CREATE TABLE "late_events" \([^;]*\) PARTITION BY RANGE \("chain_id", "block_number"\);.*CREATE VIEW analytics\.late_events AS.*;\n$/s,
  );
  expect(run('git', 'diff', '--name-only', 'migrations').trim()).toBe('');
});
