import { describe, expect, test } from 'vitest';
import { findLongLimits } from './test-limits.ts';

/** Not in the texts themselves, which would be found in this file. */
const [OPTION, HOOK_OPTION] = ['timeout', 'hookTimeout'];
const problemsOf = (path: string, text: string): string[] => findLongLimits([{ path, text }]);

describe('limits of tests', () => {
  test.each([
    ['an argument', `test('works', async () => {\n}, 31_000);`, 2],
    ['an argument on a line of its own', `test(\n  'works',\n  () => {\n  },\n  31_000,\n);`, 6],
    ['a constant', `const LONG_MS = 60_000;\nbeforeAll(async () => {\n}, LONG_MS);`, 3],
    ['an option', `test('works', { ${OPTION}: 45000 }, () => {});`, 1],
    ['a wait', `const PATIENT = { ${OPTION}: 31_000, interval: 20 };`, 1],
    ['the configuration', `vi.setConfig({ ${HOOK_OPTION}: 31_000 });`, 1],
  ])('are found in %s', (_kind, text, line) => {
    const [problem, ...others] = problemsOf('packages/foundation/core/src/some.test.ts', text);
    expect(problem).toMatch(
      new RegExp(
        `^packages/foundation/core/src/some\\.test\\.ts:${line}: the limit is \\d+ ms, and 30000 ms in the fast tier$`,
      ),
    );
    expect(others).toEqual([]);
  });

  test.each([
    ['a shorter one', `test('works', async () => {\n}, 30_000);`],
    ['a number of something else', `seedRows({ first: 1 }, 100_000);\nexpect(rows).toBe(300_000);`],
    ['a file without tests', ''],
  ])('are accepted: %s', (_kind, text) => {
    expect(problemsOf('packages/foundation/core/src/some.test.ts', text)).toEqual([]);
    expect(
      problemsOf(
        'packages/foundation/core/src/testing/some-stage.ts',
        `${text}\nconst WAIT = { ${OPTION}: 90_000 };`,
      ),
    ).toEqual([]);
  });
});
