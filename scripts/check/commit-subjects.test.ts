import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkCommitSubjects, problemsOfSubject } from './commit-subjects.ts';

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

describe('checkCommitSubjects', () => {
  const origin = join(folder, 'origin');
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', '-c', 'commit.gpgsign=false', ...args],
      {
        cwd,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
  const commit = (subject: string) => git(origin, 'commit', '-q', '--allow-empty', '-m', subject);

  test('checks commits after the one that added the check, and no shallow clone', async () => {
    mkdirSync(join(origin, 'scripts/check'), { recursive: true });
    git(origin, 'init', '-q');
    commit('ancient commit.');
    expect(await checkCommitSubjects(origin)).toEqual({ commits: 0, problems: [] });
    writeFileSync(join(origin, 'scripts/check/commit-subjects.ts'), '');
    git(origin, 'add', '-A');
    commit('adding the check.');
    expect(await checkCommitSubjects(origin)).toEqual({ commits: 0, problems: [] });
    commit('Add a row');
    commit('Added a row');
    const { commits, problems } = await checkCommitSubjects(origin);
    expect(commits).toBe(2);
    expect(problems).toEqual([expect.stringMatching(/^\w+ "Added a row": Start with an imperative/)]);
    git(folder, 'clone', '-q', '--depth', '1', `file://${origin}`, 'shallow');
    expect(await checkCommitSubjects(join(folder, 'shallow'))).toEqual({ commits: null, problems: [] });
    expect(await checkCommitSubjects(folder)).toEqual({ commits: null, problems: [] });
  });
});
