/** What one test file took. */
export interface FileTime {
  /** From the root of the repository. */
  readonly file: string;
  readonly tests: number;
  /** For its imports, its hooks and its tests. */
  readonly milliseconds: number;
}

/** The environment variable that says where {@link FileTime}s are to be written. */
export const FILE_TIMES_VARIABLE = 'CHAINSTEAD_FILE_TIMES';

const SHOWN = 25;

/** Where the time of a test run went, as lines of text: the sum of all files, and those that took most. */
export function formatSlowest(times: readonly FileTime[], shown = SHOWN): string[] {
  const slowest = times.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, shown);
  const sum = times.reduce((total, { milliseconds }) => total + milliseconds, 0);
  return [
    `${times.length} test files took ${asSeconds(sum)} s, added up; the slowest of them:`,
    ...slowest.map(({ file, tests, milliseconds }) => `${asSeconds(milliseconds).padStart(7)} s  ${file} (${tests})`),
  ];
}

function asSeconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}
