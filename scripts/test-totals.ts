/** What a test run came to. */
export interface TestTotals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Tests that passed only when they were run again, each with what it failed at first. */
  readonly unsteady: readonly string[];
  /** Tests that failed, each with its file and with what it failed at; of a file that did not load its name alone. */
  readonly failures: readonly TestFailure[];
}

export interface TestFailure {
  /** Its path. */
  readonly file: string;
  readonly told: string;
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
    readonly testResults: readonly {
      readonly name: string;
      readonly status: string;
      readonly assertionResults: readonly TestResult[];
    }[];
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
        .map(formatTest),
    ),
    failures: [
      ...unloaded.map(({ name }) => ({ file: name, told: `${name} did not load` })),
      ...parsed.testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'failed')
          .map((result) => ({ file: name, told: formatTest(result) })),
      ),
    ],
  };
}

/** What came of a run whose failed files ran once more: where they all passed then, what had failed is unsteady. */
export function withSecondTry(first: TestTotals, second: TestTotals): TestTotals {
  return {
    passed: first.passed + Math.max(0, first.failed - second.failed),
    failed: second.failed,
    skipped: first.skipped,
    unsteady: [...first.unsteady, ...(second.failed === 0 ? first.failures.map(({ told }) => told) : [])],
    failures: second.failures,
  };
}

function formatTest({ fullName, failureMessages }: TestResult): string {
  return `${fullName}: ${beginningOf(failureMessages?.[0] ?? '')}`;
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
export function formatTotals({ passed, failed, skipped }: Omit<TestTotals, 'unsteady' | 'failures'>): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
