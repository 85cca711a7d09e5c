import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { problemsOfSubject } from './commit-subjects.ts';

const folder = mkdtempSync(join(tmpdir(), 'chainstead-commits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['Freeze new rows in small batches', []],
  ['Pass the clock to the worker', []],
  ['Feed the pool from one queue', []],
  ['Fixed the pool', ['Start with an imperative, such as "Add" or "Fix", instead of "Fixed"']],
  ['Fixes the pool', ['Start with an imperative, such as "Add" or "Fix", instead of "Fixes"']],
  ['fix the pool', ['Start with a capital letter']],
  ['Fix the pool.', ['Remove the period at the end']],
  ['Fix the pool: it leaks', ['Remove the colon. Reasons belong in the body']],
  [`Fix ${'x'.repeat(68)}`, []],
  [`Fix ${'x'.repeat(69)}`, ['73 characters; at most 72 are allowed']],
])('%s', (subject, problems) => {
  expect(problemsOfSubject(subject)).toEqual(problems);
});
