import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FROZEN_MIGRATIONS, findEditedMigrations, renderFrozenMigrations } from './frozen-migrations.ts';

describe('frozen migrations', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'chainstead-frozen-'));
    mkdirSync(join(root, 'migrations'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (name: string, text: string): void => writeFileSync(join(root, 'migrations', `${name}.sql`), text);
  const freeze = async (): Promise<void> =>
    writeFileSync(join(root, FROZEN_MIGRATIONS), await renderFrozenMigrations(root));
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'ignore' });
  };
  const commit = (): void => {
    git('add', '.');
    git('commit', '-m', 'state');
  };

  test('a new migration joins the list, and those in it keep their hashes', async () => {
    write('0000_first', 'SELECT 1;');
    await freeze();
    const before = JSON.parse(readFileSync(join(root, FROZEN_MIGRATIONS), 'utf8'));
    write('0000_first', 'SELECT 2;');
    write('0001_second', 'SELECT 3;');
    await freeze();
    const after = JSON.parse(readFileSync(join(root, FROZEN_MIGRATIONS), 'utf8'));
    expect(Object.keys(after)).toEqual(['0000_first', '0001_second']);
    expect(after['0000_first']).toBe(before['0000_first']);
  });

  test('without git, an edited or removed file differs from the list', async () => {
    write('0000_first', 'SELECT 1;');
    write('0001_second', 'SELECT 1;');
    await freeze();
    expect(await findEditedMigrations(root)).toEqual([]);
    write('0000_first', 'SELECT 2;');
    rmSync(join(root, 'migrations/0001_second.sql'));
    expect(await findEditedMigrations(root)).toEqual([
      expect.stringContaining('0000_first.sql was edited'),
      expect.stringContaining('0001_second.sql is gone'),
    ]);
  });

  test('a file that was edited together with the list differs from the history', async () => {
    git('init');
    write('0000_first', 'SELECT 1;');
    await freeze();
    commit();
    write('0001_second', 'SELECT 1;');
    await freeze();
    commit();
    expect(await findEditedMigrations(root)).toEqual([]);
    write('0000_first', 'SELECT 2;');
    rmSync(join(root, FROZEN_MIGRATIONS));
    await freeze();
    commit();
    expect(await findEditedMigrations(root)).toEqual([expect.stringContaining('has another 0000_first than in')]);
  });
});
