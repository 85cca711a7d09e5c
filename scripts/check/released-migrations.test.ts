import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareReleasedMigrations } from './released-migrations.ts';

describe('released migrations', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'chainstead-released-'));
    mkdirSync(join(root, 'migrations'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (name: string, text: string): void =>
    writeFileSync(join(root, 'migrations', `${name}.sql`), text);
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'ignore' });
  };
  const release = (tag: string): void => {
    git('add', '.');
    git('commit', '-m', tag);
    git('tag', tag);
  };

  test('stay as every release contains them, and new ones may follow', async () => {
    git('init');
    write('0000_initial', 'SELECT 1;');
    release('v1.0.0');
    write('0001_next', 'SELECT 1;');
    release('v1.1.0');
    write('0002_later', 'SELECT 1;');
    expect(await compareReleasedMigrations(root)).toEqual({ tags: ['v1.0.0', 'v1.1.0'], problems: [] });

    write('0000_initial', 'SELECT 2;');
    rmSync(join(root, 'migrations/0001_next.sql'));
    expect((await compareReleasedMigrations(root)).problems).toEqual([
      expect.stringMatching(/0000_initial\.sql differs from v1\.1\.0/),
      expect.stringMatching(/0001_next\.sql is missing, but v1\.1\.0 contains it/),
    ]);
  });
});
