import { describe, expect, it } from 'vitest';
import { formatTotals, readTotals } from './test-totals.ts';

const report = (testResults: readonly unknown[]): string =>
  JSON.stringify({ numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, testResults });

describe('test totals', () => {
  it('are what vitest counted', () => {
    const totals = readTotals(report([{ status: 'failed', assertionResults: [{}] }]));
    expect(formatTotals(totals)).toBe('5 passed, 1 failed, 3 skipped');
  });

  it('name the tests that passed only at the second try', () => {
    const assertionResults = [
      {
        fullName: 'heads come late',
        status: 'passed',
        failureMessages: ['AssertionError: expected 1 to be 2\n    at x.ts'],
      },
      {
        fullName: 'heads are any',
        status: 'passed',
        failureMessages: [
          'Error: Property failed after 3 tests\n{ seed: 7 }\nCounterexample: [""]\n    at y.ts\n    at z.ts',
        ],
      },
      { fullName: 'heads come', status: 'passed', failureMessages: [] },
      { fullName: 'heads never come', status: 'failed', failureMessages: ['AssertionError: no'] },
    ];
    const { unsteady } = readTotals(report([{ status: 'failed', assertionResults }]));
    expect(unsteady).toEqual([
      'heads come late: AssertionError: expected 1 to be 2',
      'heads are any: Error: Property failed after 3 tests { seed: 7 } Counterexample: [""]',
    ]);
  });

  it('count a file that did not load as a failure', () => {
    const totals = readTotals(report([{ status: 'failed', assertionResults: [] }]));
    expect(totals.failed).toBe(2);
  });
});
