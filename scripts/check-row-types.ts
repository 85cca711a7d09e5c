/**
 * `node scripts/check-row-types.ts <tier>`, after the test files of the system or nightly tier. Compares the rows that calls of the database declare with
 * those that they got in these tests, and in `npm test` if it ran on the same sources. Exit code 1 if one differs.
 *
 * After the nightly tier, it also fails for calls of the program that no tier executed, so that nothing has compared their rows. Calls that follow from a race run in some runs only: the shorter tiers would fail once in a while.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isForTests } from './check/dependency-direction.ts';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';
import { compareRows } from './row-types/compare-rows.ts';
import { type DeclaredRows, readDeclaredRows } from './row-types/declared-rows.ts';
import { observedFolder, readObserved, writtenAt } from './row-types/observed-folder.ts';

/** Calls that run on a cluster of Citus alone, which only the nightly tier has. */
const ON_CLUSTERS = ['packages/doors/db/src/citus/', 'packages/assets/nft/src/records/read-records.ts'];

const [tier = 'system'] = process.argv.slice(2);
const startedAt = performance.now();
const paths = listFiles('apps/*.ts', 'packages/*.ts', 'tests/*.ts');
const declared = readDeclaredRows(REPOSITORY_ROOT, paths).map((rows) => (isOfTest(rows) ? orNull(rows) : rows));
const newest = Math.max(...paths.map((path) => statSync(join(REPOSITORY_ROOT, path)).mtimeMs));
const hasFast = writtenAt(observedFolder('fast')) >= newest;
if (!hasFast)
  console.log('  Run `npm test` first: its last run is older than the sources, so its rows are not compared');
const { mismatches } = compareRows(
  declared,
  [tier, ...(hasFast ? ['fast'] : [])].flatMap((name) => readObserved(observedFolder(name))),
);
const asserted = declared.filter(({ columns }) => columns.length > 0).length;
const problems = [...mismatches, ...(tier === 'nightly' && hasFast ? findUnexecuted() : [])];
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
console.log(`${problems.length === 0 ? '✓' : '✗'} row types (${seconds} s): ${asserted} calls declare columns`);
for (const line of problems) console.log(`    ${line}`);
process.exitCode = problems.length === 0 ? 0 : 1;

function isOfTest({ place }: DeclaredRows): boolean {
  return isForTests(place.replace(/:\d+:\d+$/, ''));
}

/** What a test reads while it waits is null in some runs only: such a finding would come and go. */
function orNull(rows: DeclaredRows): DeclaredRows {
  return { ...rows, columns: rows.columns.map((column) => ({ ...column, kinds: [...column.kinds, 'null'] })) };
}

/** @returns a line for each call without a test */
function findUnexecuted(): string[] {
  const observed = ['fast', 'system', 'nightly'].flatMap((name) => readObserved(observedFolder(name)));
  return compareRows(declared, observed)
    .unobserved.filter((rows) => rows.columns.length > 0 && !isOfTest(rows))
    .filter(({ place }) => !ON_CLUSTERS.some((path) => place.startsWith(path)))
    .map(
      ({ place, type }) => `${place}: no test executes this call, so that nothing compares its rows with ${type}`,
    );
}
