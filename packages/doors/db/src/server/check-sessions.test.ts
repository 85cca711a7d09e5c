import { silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { rawSql, sql } from '../sql.ts';
import { checkSettings } from './check-sessions.ts';

const scratch = scratchOfFile();

/** With another URL for sessions, a pool sets only what poolers pass on. */
function openPooled() {
  const sessionUrl = `${scratch.url}&connect_timeout=9`;
  const database = openDatabase({
    url: scratch.url,
    sessionUrl,
    applicationName: 'pooled',
    logger: silentLogger(),
  });
  onTestFinished(() => database.close());
  return database;
}

// Invariant: DB-SESSION-SETTINGS
test('settings that a pooler does not pass on are refused with the statements that help', async () => {
  await expect(checkSettings(openPooled())).resolves.toBeUndefined();
  const name = new URL(scratch.url).pathname.slice(1);
  for (const setting of ["bytea_output = 'escape'", "search_path = 'analytics'", "datestyle = 'German'"])
    await scratch.database.query(sql`ALTER DATABASE ${rawSql(name)} SET ${rawSql(setting)}`);
  await expect(checkSettings(openPooled())).rejects.toMatchObject({
    code: 'DATABASE_SETTINGS_UNSUITABLE',
    facts: { bytea_output: 'escape', search_path: 'analytics' },
    remedy: expect.stringContaining(`IN DATABASE ${name} SET bytea_output = 'hex';`),
  });
  const direct = openDatabase({ url: scratch.url, applicationName: 'direct', logger: silentLogger() });
  onTestFinished(() => direct.close());
  await expect(checkSettings(direct)).resolves.toBeUndefined();
});
