import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import type { Schedule } from '@chainstead/jobs/worker';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { PoolId } from '../events/pool-event.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-key.ts';
import { replaceTrades } from './replace-trades.ts';

export type HookedChain = Pick<Chain, 'id' | 'trustedHooks'>;

/** Last bits of a hook's address: BEFORE_ and AFTER_SWAP_RETURNS_DELTA (Uniswap v4 Hooks.sol). */
const RETURNS_DELTA = 0b1100n;

export function countingOf(
  { hooks, exchange }: Pick<ProvenPool, 'hooks' | 'exchange'>,
  { trustedHooks }: Pick<Chain, 'trustedHooks'>,
): { readonly isCounted: boolean; readonly isTrusted: boolean } {
  const isTrusted = hooks !== null && changesAmounts(hooks, exchange.family.name) && trustedHooks.includes(hooks);
  return { isCounted: isTrusted || hooks === null || !changesAmounts(hooks, exchange.family.name), isTrusted };
}

/** Then the event shows no trade. Hook addresses of other families show nothing. */
function changesAmounts(hooks: Address, family: string): boolean {
  return family !== 'v4' || (BigInt(hooks) & RETURNS_DELTA) !== 0n;
}

export interface TrustedHookOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: HookedChain & Pick<Chain, 'key'> }[];
}

const EVERY_MS = 60_000;
const BATCH = 100;

/** Stored pools follow the setting. A run reads two ranges of an index. */
export function createTrustedHookSchedules({ database, chains }: TrustedHookOptions): Schedule[] {
  return chains.map(({ chain }) => ({
    name: `trusted-hooks-${chain.key}`,
    everyMs: EVERY_MS,
    run: (signal) => applyTrustedHooks(database, chain, signal),
  }));
}

export async function applyTrustedHooks(
  database: Database,
  chain: HookedChain,
  signal?: AbortSignal,
): Promise<void> {
  for (let changed = BATCH; changed === BATCH && signal?.aborted !== true; )
    changed = await database.transaction(async (transaction) => {
      // Workers and commits that add trades wait: they see the change, or come before it.
      await lockChainCommits(transaction, chain);
      const pools = await transaction.query<{ pool: PoolId }>(changedPools(chain));
      for (const { pool } of pools) {
        await transaction.query(
          sql`UPDATE pools SET is_counted = NOT is_counted, is_trusted = NOT is_counted, left_out = CASE WHEN is_counted THEN 'untradable' END
           WHERE pool_key = ${poolKey(pool)} AND chain_id = ${chain.id} AND pool = decode(${pool.slice(2)}, 'hex')`,
        );
        await replaceTrades(transaction, chain.id, pool);
      }
      return pools.length;
    });
}

/** Pools that are not proven, as after a reorg, are decided by their next proof. */
function changedPools({ id, trustedHooks }: HookedChain): Sql {
  const hooks = sql`${trustedHooks.map(addressBytes)}::bytea[]`;
  const of = sql`SELECT pool FROM pools WHERE chain_id = ${id} AND status = 'proven' AND (is_trusted OR NOT is_counted)`;
  const limit = rawSql(BATCH);
  return sql`SELECT ${hexText('pool')} AS pool FROM (
    (${of} AND NOT is_counted AND hooks = ANY (${hooks}) LIMIT ${limit})
    UNION ALL (${of} AND is_counted AND hooks <> ALL (${hooks}) LIMIT ${limit})) AS changed LIMIT ${limit}`;
}
