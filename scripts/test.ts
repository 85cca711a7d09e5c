/**
 * `npm test`: the checks, every test, four simulations, then where the time went, what could not run on this machine, and vitest's own
 * totals in one line. Exit code 1 when anything failed. Arguments go to vitest: `npm test -- packages/sync`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { FILE_TIMES_VARIABLE, type FileTime, formatSlowest } from './slowest-files.ts';
import { formatTotals, readTotals } from './test-totals.ts';

const BIN = join(REPOSITORY_ROOT, 'node_modules/.bin');
const PROBE_TIMEOUT_MS = 5_000;
/** Enough to see that none breaks; `.ci/run` plays 12 more. */
const SIMULATED_SEEDS = 4;

const startedAt = performance.now();
const checked = run('node', ['scripts/check.ts']);
const folder = mkdtempSync(join(tmpdir(), 'chainstead-test-'));
const report = join(folder, 'report.json');
const fileTimes = join(folder, 'file-times.json');
const tested = run(
  'vitest',
  [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--reporter=${join(REPOSITORY_ROOT, 'scripts/file-times-reporter.ts')}`,
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { [FILE_TIMES_VARIABLE]: fileTimes },
);
// A part of the tests asked for by name is for the eye: no simulation then.
const simulated =
  process.argv.length > 2 || run('node', ['apps/simulation/src/main.ts', '--seeds', String(SIMULATED_SEEDS)]);
const totals = existsSync(report) ? readTotals(readFileSync(report, 'utf8')) : null;
const times: FileTime[] = existsSync(fileTimes) ? JSON.parse(readFileSync(fileTimes, 'utf8')) : [];
rmSync(folder, { recursive: true, force: true });

console.log('');
for (const line of formatSlowest(times)) console.log(line);
console.log(`all of it took ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`);
for (const line of missingOnThisMachine()) console.log(line);
if (!checked) console.log('npm run check failed, see above');
if (!simulated) console.log('a simulation failed, see above for the seed and how to repeat it');
if (totals === null) console.log('vitest wrote no report, see above');
else {
  for (const test of totals.unsteady) console.log(`passed only at the second try: ${test}`);
  console.log(formatTotals(totals));
}
process.exitCode = checked && tested && simulated && totals !== null ? 0 : 1;

function run(name: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): boolean {
  const env = { ...process.env, ...environment };
  const { status } = spawnSync(join(BIN, name), args, { cwd: REPOSITORY_ROOT, stdio: 'inherit', env });
  return status === 0;
}

/** Said aloud at the end, so that nobody takes a part for the whole. */
function missingOnThisMachine(): string[] {
  const lines: string[] = [];
  if (!works('docker', ['info']))
    lines.push('did not run: tests that need a Docker daemon (testcontainers: other Postgres versions, Citus)');
  if (process.env.TEST_REDIS_URL === undefined && !works('redis-server', ['--version']))
    lines.push('did not run: queue tests on Redis (no redis-server on this machine, and TEST_REDIS_URL is not set)');
  if (!existsSync('/usr/sbin/pgbouncer') && !works('pgbouncer', ['--version']))
    lines.push('did not run: tests behind PgBouncer (no pgbouncer on this machine)');
  if (!works('chromium', ['--version']))
    lines.push("did not run: tests of the console in a browser (Debian's package chromium is not on this machine)");
  if (!hasPostgresServer())
    lines.push("did not run: tests with pg_dump and standbys (Debian's package postgresql is not on this machine)");
  if (!hasCitus())
    lines.push("did not run: tests on a cluster of Citus (Debian's Postgres here has no such extension)");
  if (!existsSync(join(REPOSITORY_ROOT, '../shared/data/evm')))
    lines.push('did not run: tests on recorded blocks (no ../shared/data beside the checkout)');
  return lines;
}

function hasCitus(): boolean {
  const folder = '/usr/share/postgresql';
  return (
    existsSync(folder) &&
    readdirSync(folder).some((version) => existsSync(join(folder, version, 'extension/citus.control')))
  );
}

function hasPostgresServer(): boolean {
  const folder = '/usr/lib/postgresql';
  return existsSync(folder) && readdirSync(folder).some((version) => existsSync(join(folder, version, 'bin/initdb')));
}

function works(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS }).status === 0;
}
