import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { FILE_TIMES_VARIABLE, type FileTime, formatSlowest } from './slowest-files.ts';
import { formatTotals, readTotals, type TestTotals } from './test-totals.ts';

/** What a run of vitest came to. */
export interface VitestRun {
  readonly passed: boolean;
  /** Null: it wrote no report. */
  readonly totals: TestTotals | null;
  readonly times: readonly FileTime[];
}

/**
 * Runs tests, which tell of themselves as they go.
 * @param projects names from vitest.config.ts
 * @param args as for vitest: parts of the files' paths above all
 */
export function runVitest(projects: readonly string[], args: readonly string[]): VitestRun {
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

/** Tests that needed a second try, and vitest's totals in one line: the last of a run's output. */
export function formatOutcome({ totals }: VitestRun): string[] {
  if (totals === null) return ['vitest wrote no report, see above'];
  return [...totals.unsteady.map((test) => `passed only at the second try: ${test}`), formatTotals(totals)];
}
