/**
 * `npm test`: the checks, every test but those of `npm run chaos`, two simulations, then where the time went, what could not run on this machine,
 * and vitest's own totals in one line. Exit code 1 when anything failed. Arguments go to vitest: `npm test -- packages/sync`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { missingOnThisMachine } from './missing-on-this-machine.ts';
import { formatOutcome, formatTimes, runVitest } from './run-vitest.ts';

/** Enough to see that none breaks; `.ci/run` plays 14 more. */
const SIMULATED_SEEDS = 2;

const startedAt = performance.now();
const args = process.argv.slice(2);
const checked = runNode('scripts/check.ts');
const tested = runVitest(['packages', 'programs'], args);
// A part of the tests asked for by name is for the eye: no simulation then.
const simulated = args.length > 0 || runNode('apps/simulation/src/main.ts', '--seeds', String(SIMULATED_SEEDS));

console.log('');
for (const line of [...formatTimes(tested, startedAt), ...missingOnThisMachine()]) console.log(line);
if (!checked) console.log('npm run check failed, see above');
if (!simulated) console.log('a simulation failed, see above for the seed and how to repeat it');
for (const line of formatOutcome(tested)) console.log(line);
process.exitCode = checked && tested.passed && simulated && tested.totals !== null ? 0 : 1;

function runNode(...command: readonly string[]): boolean {
  const node = join(REPOSITORY_ROOT, 'node_modules/.bin/node');
  return spawnSync(node, command, { cwd: REPOSITORY_ROOT, stdio: 'inherit' }).status === 0;
}
