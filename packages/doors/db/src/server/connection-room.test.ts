import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { rawSql, sql } from '../sql.ts';
import { readConnectionRoom } from './connection-room.ts';

test('the room that a server has is read by any role: its limit, what it keeps back, and the sessions of others', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const role = `counter_${randomBytes(6).toString('hex')}`;
  await scratch.database.query(sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret'`);
  const url = new URL(scratch.url);
  url.username = role;
  url.password = 'secret';
  const name = `counting ${role}`;
  const own = openDatabase({ url: url.href, applicationName: name, poolSize: 4, logger: silentLogger() });
  onTestFinished(async () => {
    await own.close();
    await scratch.database.query(sql`DROP ROLE ${rawSql(role)}`);
  });
  // Two own connections.
  const read = () => own.transaction(async () => readConnectionRoom(own, name));
  const { usedByOthers, ...limits } = await read();
  const [settings] = await scratch.database.query<{ max: number; reserved: number }>(
    sql`SELECT current_setting('max_connections')::int AS max,
       current_setting('superuser_reserved_connections')::int + current_setting('reserved_connections')::int AS reserved`,
  );
  expect(limits).toEqual(settings);
  const [seen] = await scratch.database.query<{ sessions: number; own: number }>(
    sql`SELECT count(*)::int AS sessions, count(*) FILTER (WHERE application_name = ${name})::int AS own
       FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  expect(seen?.own).toBe(2);
  expect(usedByOthers).toBeGreaterThan(0);
  // Under another application name, they count as used.
  const asAnother = await readConnectionRoom(own, 'somebody else');
  expect(asAnother.usedByOthers).toBeGreaterThanOrEqual(2);
});
