/** The retention settings and the tables of contracts: which rows they delete, and what responses then report. */

import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createSyncMetrics, deleteOldRows, isDroppable } from '@chainstead/sync/ingest';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { contractRoutes } from '../routes/contract-routes.ts';
import { writeContractRows } from '../testing/contract-rows.ts';
import { addNamedContracts, type Happening, logOf } from '../testing/named-contracts.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, contractRoutes));
const chain = createChainRegistry().get('eth');
const never = new AbortController().signal;
const LAST = 300;
/** The newest 100 blocks, and blocks that a reorg may still replace. */
const RETENTION = { blocks: 100, since: null };
const BELOW = LAST + 1 - 100 - chain.reorgDepthMax;

/** The first block has a hub, a pool and pings; each later one has pings of the vault and the pool. */
function happeningsOf(block: number): readonly Happening[] {
  const pings = [1, 3].map((emitter) => ({ kind: 'ping' as const, emitter, child: 0 }));
  const creations: readonly Happening[] = [
    { kind: 'hub', emitter: 0, child: 2 },
    { kind: 'pool', emitter: 2, child: 3 },
  ];
  return block === 1 ? [...creations, ...pings] : pings;
}

async function blocksOf(table: string): Promise<readonly number[]> {
  const rows = await scratch.database.query<{ block: number }>(
    sql`SELECT block_number AS block FROM contracts.${rawSql(table)} ORDER BY block_number, log_index`,
  );
  return rows.map(({ block }) => block);
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('old events are deleted, those that name children stay, and new events of old children are stored', async () => {
  const { database } = scratch;
  const datasets = await addNamedContracts(database, chain);
  expect(Object.fromEntries(datasets.map((dataset) => [dataset.name, isDroppable(dataset)]))).toEqual({
    'contracts.vault_ping': true,
    'contracts.hubs_hub_created': false,
    'contracts.hubs_pool_created': true,
    'contracts.pools_pool_created': false,
    'contracts.pools_ping': true,
  });
  const commit = (from: number, to: number) =>
    database.transaction((transaction) => {
      const logs = range(from, to).flatMap((block) =>
        happeningsOf(block).map((happening, place) => logOf(happening, block, place)),
      );
      return writeContractRows(transaction, chain, datasets, { range: { from, to }, logs });
    });
  await commit(1, LAST);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, checkpoint_hash) VALUES (${chain.id}, 'eth', 1, 1, ${LAST}, sha256('last'))`,
  );
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, n, sha256(int4send(n)), to_timestamp(1600000000 + 12 * n) FROM generate_series(1, ${LAST}::int) AS n`,
  );
  const shared = { chain, database, datasets, logger: silentLogger() };
  const options = { ...shared, metrics: createSyncMetrics(createMetricsRegistry()), retention: RETENTION };
  const old = BELOW - 1;
  expect(await deleteOldRows(options, never, 50)).toBe(old - 2 + old + 1);
  expect(await blocksOf('vault_ping')).toEqual(range(BELOW, LAST));
  expect(await blocksOf('pools_ping')).toEqual(range(BELOW, LAST));
  expect(await blocksOf('hubs_pool_created')).toEqual([]);
  expect(await blocksOf('hubs_hub_created')).toEqual([1]);
  expect(await blocksOf('pools_pool_created')).toEqual([1]);

  const response = await api.request('/api/v2.2/contracts/vault/ping?chain=eth&limit=1&order=ASC', {
    headers: { 'X-API-Key': EXAMPLE_KEY },
  });
  expect(await response.json()).toMatchObject({
    indexed: { from_block: String(BELOW), to_block: String(LAST), complete: false },
    result: [{ block_number: String(BELOW) }],
  });

  await commit(LAST + 1, LAST + 1);
  expect((await blocksOf('pools_ping')).at(-1)).toBe(LAST + 1);
});
