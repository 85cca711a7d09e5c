import { describe, expect, it } from 'vitest';
import { formatTotals, readTotals, withSecondTry } from './test-totals.ts';

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

  it('name the failures with their files', () => {
    const { failures } = readTotals(
      report([
        { name: '/a.test.ts', status: 'failed', assertionResults: [] },
        {
          name: '/b.test.ts',
          status: 'failed',
          assertionResults: [
            { fullName: 'heads come', status: 'passed' },
            { fullName: 'heads stay', status: 'failed', failureMessages: ['Error: gone\n    at z.ts'] },
          ],
        },
      ]),
    );
    expect(failures).toEqual([
      { file: '/a.test.ts', told: '/a.test.ts did not load' },
      { file: '/b.test.ts', told: 'heads stay: Error: gone' },
    ]);
  });

  it('call unsteady what failed only before its file ran once more, and keep what failed again', () => {
    const of = (failed: number, passed: number) => ({ ...{ failed, passed, skipped: 2 }, unsteady: [] });
    const first = { ...of(2, 100), failures: ['x', 'y'].map((told) => ({ file: '/a.test.ts', told })) };
    expect(withSecondTry(first, { ...of(0, 9), failures: [] })).toEqual({
      ...of(0, 102),
      ...{ unsteady: ['x', 'y'], failures: [] },
    });
    const again = { ...of(1, 8), failures: [{ file: '/a.test.ts', told: 'x' }] };
    expect(withSecondTry(first, again)).toEqual({ ...of(1, 101), failures: again.failures });
  });
});
