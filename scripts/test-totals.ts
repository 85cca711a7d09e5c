/** What a test run came to. */
export interface TestTotals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The totals of a report that vitest's `json` reporter wrote. Suites that failed to load count as one failure each. */
export function readTotals(report: string): TestTotals {
  const parsed: {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
    readonly numPendingTests: number;
    readonly numTodoTests: number;
    readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
  } = JSON.parse(report);
  const unloaded = parsed.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: parsed.numPassedTests,
    failed: parsed.numFailedTests + unloaded.length,
    skipped: parsed.numPendingTests + parsed.numTodoTests,
  };
}

/** The line that ends a test run: `812 passed, 0 failed, 3 skipped`. */
export function formatTotals({ passed, failed, skipped }: TestTotals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
