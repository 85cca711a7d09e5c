/**
 * `npm run chaos`: the tests that take longest, files named `*.chaos.test.ts`: servers and processes die again and again while blocks are written,
 * and a cluster is compared with one server in all that it does. `npm test` kills single servers and processes. Ends as `npm test` does, with what could not run
 * on this machine. Exit code 1 when one failed. Arguments go to vitest: `npm run chaos -- citus-coordinator`.
 */
import { missingOnThisMachine } from './missing-on-this-machine.ts';
import { formatOutcome, formatTimes, runVitest } from './run-vitest.ts';

const startedAt = performance.now();
const tested = runVitest(['chaos'], process.argv.slice(2));

console.log('');
for (const line of [
  ...formatTimes(tested, startedAt),
  ...missingOnThisMachine(['citus', 'recordedBlocks']),
  ...formatOutcome(tested),
])
  console.log(line);
process.exitCode = tested.passed && tested.totals !== null ? 0 : 1;
