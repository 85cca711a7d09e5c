import { parseChainId, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { expect, test } from 'vitest';
import { createPartitions } from './create-partitions.ts';
import { createScratchDatabase, startScratchServer } from './scratch-database.ts';

test('scratch databases are migrated, empty and apart from each other', async () => {
  const [first, second] = await Promise.all([createScratchDatabase(), createScratchDatabase()]);
  await first.database.query(sql`INSERT INTO server_secrets VALUES ('only here', '')`);
  expect(await first.database.query(sql`SELECT name FROM server_secrets`)).toEqual([{ name: 'only here' }]);
  expect(await second.database.query(sql`SELECT name FROM server_secrets`)).toEqual([]);
  await Promise.all([first.drop(), second.drop()]);
});

test('a dropped scratch database is gone, whoever was connected to it', async () => {
  const scratch = await createScratchDatabase();
  const visitor = openDatabase({
    url: scratch.url,
    applicationName: 'visitor',
    poolSize: 1,
    logger: silentLogger(),
  });
  await visitor.query(sql`SELECT 1`);
  await scratch.drop();
  await expect(visitor.query(sql`SELECT 1`)).rejects.toThrow();
  await visitor.close();
});

test('a server of its own serves programs outside of a test run, with the settings that they ask for', async () => {
  const server = await startScratchServer({ settings: { fsync: 'on' } });
  const scratch = await server.createDatabase();
  expect(await scratch.database.query(sql`SELECT current_setting('fsync') AS fsync`)).toEqual([{ fsync: 'on' }]);
  expect(await scratch.database.query(sql`SELECT count(*) AS n FROM sync_chains`)).toEqual([{ n: 0 }]);
  await scratch.drop();
  await server.stop();
  const late = openDatabase({
    url: server.adminUrl,
    applicationName: 'late',
    poolSize: 1,
    logger: silentLogger(),
  });
  await expect(late.query(sql`SELECT 1`)).rejects.toThrow();
  await late.close();
});

test('statistics stay as they are without autovacuum', async () => {
  const scratch = await createScratchDatabase({ autovacuum: false });
  // Made later, as the partitions of a test are.
  await createPartitions(scratch.database, 'erc20_transfer_sides', parseChainId(1), [100]);
  await scratch.database.query(sql`CREATE TEMPORARY TABLE passing (a int)`);
  const [row] = await scratch.database.query<{ tables: number; still: number }>(
    sql`SELECT count(*) AS tables, count(*) FILTER (WHERE 'autovacuum_enabled=false' = ANY (reloptions)) AS still
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  expect(row?.tables).toBeGreaterThan(20);
  expect(row?.still).toBe(row?.tables);
  await scratch.drop();
});
