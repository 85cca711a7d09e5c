import { silentLogger } from '@chainstead/core';
import { createScratchDatabase, startScratchPgBouncer } from '@chainstead/testkit';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { rawSql, sql } from '../sql.ts';

const scratch = await createScratchDatabase({ migrated: false });
const bouncer = await startScratchPgBouncer(scratch.url, 'transaction');
if (bouncer === undefined)
  process.stdout.write('NOT RUN: settings of sessions behind PgBouncer (no pgbouncer on this machine)\n');
afterAll(async () => {
  await bouncer?.stop();
  await scratch.drop();
});

// Invariant: DB-SESSION-SETTINGS
test.runIf(bouncer !== undefined)(
  'a pooler in transaction mode keeps the forms of times per client',
  async () => {
    const name = new URL(scratch.url).pathname.slice(1);
    for (const setting of ["datestyle = 'German'", "timezone = 'Asia/Kolkata'"])
      await scratch.database.query(sql`ALTER DATABASE ${rawSql(name)} SET ${rawSql(setting)}`);
    const options = { applicationName: 'pooled', sessionUrl: scratch.url, poolSize: 8, logger: silentLogger() };
    await using parts = new AsyncDisposableStack();
    const database = parts.adopt(openDatabase({ url: bouncer?.url ?? '', ...options }), (one) => one.close());
    const read = () =>
      database.query<{ time: Date; text: string }>(
        sql`SELECT '2024-01-31T12:00:00Z'::timestamptz AS time, '2024-01-31T12:00:00Z'::timestamptz::text, pg_sleep(0.01)::text AS slept`,
      );
    const rows = (await Promise.all(Array.from({ length: 40 }, read))).flat();
    expect(new Set(rows.map(({ text }) => text))).toEqual(new Set(['2024-01-31 12:00:00+00']));
    expect(new Set(rows.map(({ time }) => time.getTime()))).toEqual(new Set([Date.UTC(2024, 0, 31, 12)]));
  },
);
