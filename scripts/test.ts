/**
 * `npm test`, `npm run test:system`, `npm run test:nightly`: the steps of one tier, then its test files, then (except the fast one) the check
 * of the row types that they observed. Prints the slowest files, what this machine lacks, and the totals. Exit code 1 if a step or a test failed. Arguments go to vitest and skip
 * the steps and that check: `npm test -- packages/engine/sync`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { OBSERVED_FOLDER_VARIABLE } from '../packages/doors/db/src/testing/observed-rows.ts';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { missingOnThisMachine } from './missing-on-this-machine.ts';
import { observedFolder } from './row-types/observed-folder.ts';

const PROGRAM = join(REPOSITORY_ROOT, 'scripts/find-bundle.js');
const SIMULATE = 'tests/simulation/src/main.ts';

/** What each tier runs before its test files: arguments of node. Those of `system` run concurrently: each waits a third of its time. */
const TIERS = {
  fast: [['scripts/check.ts']],
  // The test of the package runs the demo of the checkout, too.
  system: [[SIMULATE, '--seeds', '5'], ['scripts/try-package.ts']],
  nightly: [
    [SIMULATE, '--seeds', '50', '--from', '6'],
    [SIMULATE, '--story', 'assets', '--seeds', '2', '--actions', '500'],
    [SIMULATE, '--story', 'activity', '--seeds', '1', '--actions', '200'],
    [SIMULATE, '--story', 'soak', '--minutes', '20'],
    ['scripts/mutants.ts'],
  ],
} as const;

/** For the output of a failed step, repeated at the end. */
const FAILED_LINES = 40;

const [name = 'fast', ...args] = process.argv.slice(2);
if (!isTier(name)) throw new Error(`Unknown tier "${name}". Use one of: ${Object.keys(TIERS).join(', ')}`);
const startedAt = performance.now();
const isWhole = args.length === 0;
const steps: readonly (readonly string[])[] = isWhole ? TIERS[name] : [];
const failed = await runSteps(steps, name === 'system');
if (isWhole) {
  const folder = observedFolder(name);
  rmSync(folder, { recursive: true, force: true });
  process.env[OBSERVED_FOLDER_VARIABLE] = folder;
  // Made once, before tests that are timed need it.
  process.env.CHAINSTEAD_TEST_PROGRAM = execFileSync(process.execPath, [PROGRAM], { encoding: 'utf8' }).trim();
}
const tested = await run('vitest', ['run', `--project=${name}`, ...args]);
const rowTypes = ['scripts/check-row-types.ts', name];
if (isWhole && name !== 'fast' && !(await run('node', rowTypes))) failed.push(rowTypes.join(' '));
for (const line of missingOnThisMachine(name)) console.log(line);
for (const step of failed) console.log(`failed: ${step}`);
console.log(`${name}: ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`);
process.exitCode = tested && failed.length === 0 ? 0 : 1;

function isTier(text: string): text is keyof typeof TIERS {
  return text in TIERS;
}

/** @returns of each failed step its arguments and the end of its output: thousands of lines of tests follow it */
async function runSteps(all: readonly (readonly string[])[], areConcurrent: boolean): Promise<string[]> {
  const failures: string[] = [];
  const step = async (args: readonly string[]) => {
    const lines: string[] = [];
    const keep = (text: Buffer) => lines.push(...text.toString().trimEnd().split('\n'));
    if (!(await run('node', args, keep)))
      failures.push(
        [args.join(' '), ...lines.slice(-FAILED_LINES).map((line) => `    ${line.slice(0, 500)}`)].join('\n'),
      );
  };
  if (areConcurrent) await Promise.all(all.map(step));
  else for (const args of all) await step(args);
  return failures;
}

async function run(
  command: string,
  commandArgs: readonly string[],
  keep?: (output: Buffer) => unknown,
): Promise<boolean> {
  const executable = join(REPOSITORY_ROOT, 'node_modules/.bin', command);
  const child = spawn(executable, commandArgs, {
    cwd: REPOSITORY_ROOT,
    stdio: keep === undefined ? 'inherit' : ['inherit', 'pipe', 'pipe'],
  });
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from?.pipe(to, { end: false });
    if (keep !== undefined) from?.on('data', keep);
  }
  const [code] = await once(child, 'close');
  return code === 0;
}
