import { describe, expect, it } from 'vitest';
import { formatTotals, readTotals } from './test-totals.ts';

const report = (testResults: readonly unknown[]): string =>
  JSON.stringify({ numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, testResults });

describe('test totals', () => {
  it('are what vitest counted', () => {
    const totals = readTotals(report([{ status: 'failed', assertionResults: [{}] }]));
    expect(formatTotals(totals)).toBe('5 passed, 1 failed, 3 skipped');
  });

  it('count a file that did not load as a failure', () => {
    const totals = readTotals(report([{ status: 'failed', assertionResults: [] }]));
    expect(totals.failed).toBe(2);
  });
});
