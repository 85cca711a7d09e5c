/** A reader of the analytics views holds its locks: ingestion, migrations and streams' changes continue. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@chainstead/core';
import { rawSql, sql, transactionLock } from '@chainstead/db';
import { migrate, openDatabase } from '@chainstead/db/server';
import { describe } from 'vitest';
import { untilIndexed } from './indexed-tables.ts';
import { type Stage, stagedTest } from './stage.ts';

async function connectReader(stage: Stage): Promise<ReturnType<typeof openDatabase>> {
  const role = `analyst_${randomBytes(6).toString('hex')}`;
  await stage.scratch.database.query(
    sql`CREATE ROLE ${rawSql(role)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`,
  );
  const url = new URL(stage.scratch.url);
  url.username = role;
  url.password = 'secret';
  const reader = openDatabase({ url: url.href, applicationName: 'reader', logger: silentLogger() });
  stage.closeLater(async () => {
    await reader.close();
    await stage.scratch.database.query(sql`DROP ROLE ${rawSql(role)}`);
  });
  return reader;
}

describe.concurrent('a reader', () => {
  stagedTest('who takes every lock that it can get holds nothing up', async ({ stage, expect }) => {
    const { chain, facts, scratch } = stage;
    const reader = await connectReader(stage);
    const end = Promise.withResolvers<void>();
    const holds = Promise.withResolvers<void>();
    const holding = reader.transaction(async (transaction) => {
      // Preparing takes the locks of tables that running would, before any permission is looked at.
      for (const table of ['transaction_locks', 'leases', 'streams_version', 'sync_chains', 'schema_migrations'])
        await transaction.client.query(
          `PREPARE row_of_${table} AS SELECT * FROM public.${table} FOR UPDATE; PREPARE rows_of_${table} AS DELETE FROM public.${table}`,
        );
      holds.resolve();
      await end.promise;
    });
    holding.catch(holds.reject);
    await holds.promise;

    const node = await stage.serve({ latencyMs: 1 });
    await stage.index([node]);
    await untilIndexed(scratch.database, facts, chain, { proven: true });
    await scratch.database.transaction((transaction) => transactionLock(transaction, 'streams-version'));
    expect(await migrate(scratch.database)).toEqual({ applied: [] });
    end.resolve();
    await holding;
  });

  stagedTest('can lock neither rows nor tables that others wait for', async ({ stage, expect }) => {
    const reader = await connectReader(stage);
    for (const statement of [
      'SELECT * FROM public.transaction_locks FOR UPDATE',
      'SELECT * FROM public.leases FOR SHARE',
      'SELECT * FROM public.sync_chains FOR KEY SHARE',
      'LOCK TABLE public.transaction_locks IN ACCESS EXCLUSIVE MODE',
      'LOCK TABLE public.leases IN SHARE MODE',
      "INSERT INTO public.leases VALUES ('ingest:1')",
    ])
      await expect(
        reader.transaction((transaction) => transaction.query(rawSql(statement))),
      ).rejects.toMatchObject({
        code: '42501',
      });
  });

  stagedTest('has limits where it logs in as the role itself', async ({ stage, expect }) => {
    const [role] = await stage.scratch.database.query(
      sql`SELECT rolconnlimit, rolconfig FROM pg_roles WHERE rolname = 'chainstead_reader'`,
    );
    expect(role).toEqual({
      rolconnlimit: 20,
      rolconfig: [
        'statement_timeout=5min',
        'idle_in_transaction_session_timeout=1min',
        'transaction_timeout=10min',
      ],
    });
  });
});
