/** What a test run came to. */
export interface TestTotals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Tests that passed only when they were run again, each with what it failed at first. */
  readonly unsteady: readonly string[];
}

interface TestResult {
  readonly fullName?: string;
  readonly status?: string;
  readonly failureMessages?: readonly string[];
}

/** The totals of a report that vitest's `json` reporter wrote. Suites that failed to load count as one failure each. */
export function readTotals(report: string): TestTotals {
  const parsed: {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
    readonly numPendingTests: number;
    readonly numTodoTests: number;
    readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly TestResult[] }[];
  } = JSON.parse(report);
  const unloaded = parsed.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: parsed.numPassedTests,
    failed: parsed.numFailedTests + unloaded.length,
    skipped: parsed.numPendingTests + parsed.numTodoTests,
    unsteady: parsed.testResults.flatMap(({ assertionResults }) =>
      assertionResults
        .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
        .map(({ fullName, failureMessages }) => `${fullName}: ${beginningOf(failureMessages?.[0] ?? '')}`),
    ),
  };
}

const MESSAGE_LINES = 4;
const MESSAGE_LENGTH_MAX = 1_000;

/** What was said before the places in the code: of a property its seed and its counterexample, too. */
function beginningOf(message: string): string {
  const lines = message.split('\n');
  const place = lines.findIndex((line) => /^\s+at /.test(line));
  const said = lines.slice(0, Math.min(place < 0 ? lines.length : place, MESSAGE_LINES));
  return said.join(' ').trim().slice(0, MESSAGE_LENGTH_MAX);
}

/** The line that ends a test run: `812 passed, 0 failed, 3 skipped`. */
export function formatTotals({ passed, failed, skipped }: Omit<TestTotals, 'unsteady'>): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
