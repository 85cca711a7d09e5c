/**
 * `npm run properties`: the properties over a database, with four times the runs that `npm test` has time for; PROPERTY_DEPTH says how many. Ends as
 * `npm test` does. Exit code 1 when one failed. Arguments go to vitest: `npm run properties -- --reporter=verbose`.
 */
import { readSourceFiles } from './check/source-files.ts';
import { formatOutcome, formatTimes, runVitest } from './run-vitest.ts';

/** A run of one takes seconds, so that its timeout is its own, or has to be far above that of other tests. Milliseconds. */
const TIMEOUT_MS = 300_000;

process.env.PROPERTY_DEPTH ??= '2';
const startedAt = performance.now();
const files = readSourceFiles()
  .filter(({ path, text }) => path.endsWith('.test.ts') && text.includes('atDepth('))
  .map(({ path }) => path);
const tested = runVitest(['packages'], [`--testTimeout=${TIMEOUT_MS}`, ...files, ...process.argv.slice(2)]);

console.log('');
for (const line of [...formatTimes(tested, startedAt), ...formatOutcome(tested)]) console.log(line);
process.exitCode = tested.passed && tested.totals !== null ? 0 : 1;
