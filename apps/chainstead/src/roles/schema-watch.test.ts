import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchSchema } from './listen.ts';

const scratch = scratchOfFile();

it('tells once of a newer schema, also when the process starts again on it', async () => {
  const logger = silentLogger();
  const warn = vi.spyOn(logger, 'warn');
  const watch = await watchSchema({ database: scratch.database, logger, intervalMs: 10 });
  onTestFinished(() => watch.stop());
  expect(watch.note).toBeNull();
  await scratch.database.query(sql`INSERT INTO schema_migrations (name, hash) VALUES ('9999_later', 'x')`);
  await expect.poll(() => watch.note).toContain('newer version');
  expect(warn.mock.calls).toEqual([[{ migrations: ['9999_later'] }, expect.stringContaining('newer version')]]);

  const again = await watchSchema({ database: scratch.database, logger, intervalMs: 10 });
  onTestFinished(() => again.stop());
  expect(again.note).toBe(watch.note);
  expect(warn).toHaveBeenCalledTimes(2);
});
