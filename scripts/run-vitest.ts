import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { FILE_TIMES_VARIABLE, type FileTime, formatSlowest } from './slowest-files.ts';
import { formatTotals, readTotals, type TestTotals, withSecondTry } from './test-totals.ts';

/** What a run of vitest came to. */
export interface VitestRun {
  readonly passed: boolean;
  /** Null: it wrote no report. */
  readonly totals: TestTotals | null;
  readonly times: readonly FileTime[];
}

/** Where more files fail, it is no stall of the machine. */
const FILES_OF_SECOND_TRY_MAX = 3;

/**
 * Runs tests, which tell of themselves as they go. A file or a few that failed run once more, in new processes and on a new server: a test that a busy
 * machine broke leaves what it did behind, so that a second try in its place may break as well. `formatOutcome` names what needed that.
 * @param projects names from vitest.config.ts
 * @param args as for vitest: parts of the files' paths above all
 */
export function runVitest(projects: readonly string[], args: readonly string[]): VitestRun {
  const first = runOnce(projects, args);
  const files = [...new Set(first.totals?.failures.map(({ file }) => relative(REPOSITORY_ROOT, file)))];
  if (first.totals === null || files.length === 0 || files.length > FILES_OF_SECOND_TRY_MAX) return first;
  console.log(`\nonce more, alone: ${files.join(', ')}`);
  const options = args.filter((arg) => arg.startsWith('--'));
  const second = runOnce(projects, [...options, ...files]);
  return { ...first, passed: second.passed, totals: second.totals && withSecondTry(first.totals, second.totals) };
}

function runOnce(projects: readonly string[], args: readonly string[]): VitestRun {
  const folder = mkdtempSync(join(tmpdir(), 'chainstead-test-'));
  const report = join(folder, 'report.json');
  const fileTimes = join(folder, 'file-times.json');
  try {
    const { status } = spawnSync(
      join(REPOSITORY_ROOT, 'node_modules/.bin/vitest'),
      [
        'run',
        ...projects.map((name) => `--project=${name}`),
        '--reporter=default',
        '--reporter=json',
        `--reporter=${join(REPOSITORY_ROOT, 'scripts/file-times-reporter.ts')}`,
        `--outputFile.json=${report}`,
        ...args,
      ],
      { cwd: REPOSITORY_ROOT, stdio: 'inherit', env: { ...process.env, [FILE_TIMES_VARIABLE]: fileTimes } },
    );
    return {
      passed: status === 0,
      totals: existsSync(report) ? readTotals(readFileSync(report, 'utf8')) : null,
      times: existsSync(fileTimes) ? JSON.parse(readFileSync(fileTimes, 'utf8')) : [],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the time went, as lines of text. */
export function formatTimes({ times }: VitestRun, startedAt: number): string[] {
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  return [...formatSlowest(times), `all of it took ${minutes} minutes`];
}

/** Tests that passed only at a second try, and vitest's totals in one line: the last of a run's output. */
export function formatOutcome({ totals }: VitestRun): string[] {
  if (totals === null) return ['vitest wrote no report, see above'];
  return [...totals.unsteady.map((test) => `passed only at the second try: ${test}`), formatTotals(totals)];
}
