import { columnList, columnsAs, rawSql, type Sql, sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';
import { poolCreations, pools, swaps } from '../tables/schema.ts';

const swap = columnsAs(swaps, 'swap');
const creation = columnsAs(poolCreations, 'creation');
const KEY = ['poolKey', 'chainId', 'pool'] as const;

export const poolsOfSwaps: Projection = {
  name: 'pools-of-swaps',
  version: 1,
  tables: [],
  added: ({ rows }) => [
    // Any row's guess will do: the proof decides.
    sql`INSERT INTO pools (${columnList(pools, [...KEY, 'vault', 'token0', 'token1'])})
     SELECT DISTINCT ON (1, 2, 3) ${columnList(swaps, KEY, 'swap')}, ${swap.vault}, ${swap.token0}, ${swap.token1} FROM ${rows} AS swap
     ORDER BY 1, 2, 3, ${swap.token0} IS NULL OR ${swap.token1} IS NULL ON CONFLICT DO NOTHING`,
  ],
  removed: () => [],
  rolledBack: makeUnproven,
  // A pool stays proven without its swaps.
  dropped: () => [],
};

const ADDRESS_BYTES = rawSql('20');

export const poolsOfCreations: Projection = {
  name: 'pools-of-creations',
  version: 1,
  tables: [],
  added: ({ rows }) => [
    // The manager that announces an id holds the pool, and emits its swaps.
    sql`INSERT INTO pools AS stored (${columnList(pools, [...KEY, 'vault'])})
     SELECT DISTINCT ON (1, 2, 3) ${columnList(poolCreations, KEY, 'creation')}, CASE WHEN length(${creation.pool}) > ${ADDRESS_BYTES} THEN ${creation.factory} END
     FROM ${rows} AS creation ORDER BY 1, 2, 3, ${creation.blockNumber}, ${creation.transactionIndex}, ${creation.logIndex}
     ON CONFLICT (${columnList(pools, KEY)}) DO UPDATE SET status = ${rawSql("'unproven'")}, due_at = now() WHERE stored.status <> 'proven'`,
  ],
  removed: () => [],
  rolledBack: makeUnproven,
};

/** A proof at a replaced block is none. Trades stay until a worker has decided again. */
function makeUnproven(chainId: number, ancestor: number): readonly Sql[] {
  return [
    sql`UPDATE pools SET status = ${rawSql("'unproven'")}, proof = NULL, proof_block = NULL, due_at = now()
     WHERE chain_id = ${chainId} AND proof_block > ${ancestor}`,
    // A worker may later store the outcome of a replaced block: the pool stays due.
    sql`UPDATE pools SET due_at = now()
     WHERE chain_id = ${chainId} AND coalesce(lease_until, due_at) IS NOT NULL AND lease_until IS NOT NULL`,
  ];
}
