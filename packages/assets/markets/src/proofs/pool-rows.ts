import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexBytes,
  hexText,
  joinSql,
  rawSql,
  runStatements,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { type Claim, type DueTable, isClaimed, SETTLED } from '@chainstead/jobs';
import type { Schedule } from '@chainstead/jobs/worker';
import { lockChainCommits, underCommitLock } from '@chainstead/sync/commit-retry';
import { requestTokenFacts } from '@chainstead/tokens/requests';
import type { PoolId } from '../events/pool-event.ts';
import type { ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { markPoolStale } from '../pool-candles/candles-projection.ts';
import { type PoolFacts, poolKey } from '../pools/pool-creation.ts';
import type { PoolProofKind } from '../tables/schema.ts';
import { forgetTradersOfPool } from '../trader-sums/trader-sums-projection.ts';
import { addTradesOfPool } from '../trades/trades-projection.ts';
import { leftOutOf } from '../vault-liquidity/left-out-pools.ts';

export const POOL_WORK = 'pool-proof';

export const IS_OPEN = sql`coalesce(lease_until, due_at) IS NOT NULL`;

export const DUE_POOLS: DueTable = {
  name: 'pools',
  key: ['pool_key', 'chain_id', 'pool'],
  isOpen: IS_OPEN,
  isSpread: true,
};

export interface UnprovenPool {
  readonly pool: PoolId;
  readonly vault: Address | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
}

export const UNPROVEN_POOL_COLUMNS = joinSql(
  ['pool', 'vault', 'token0', 'token1'].map((column) => sql`${hexText(`work.${column}`)} AS ${rawSql(column)}`),
);

export type PoolOutcome =
  | {
      readonly status: 'proven';
      readonly pool: ProvenPool;
      readonly by: PoolProofKind;
      readonly block: number | null;
    }
  | { readonly status: 'disproved'; readonly block: number | null }
  | { readonly status: 'unproven' };

export async function readCreations(
  database: Database,
  chainId: ChainId,
  { byFactory }: Pick<ChainExchanges, 'byFactory'>,
  pools: readonly PoolId[],
): Promise<ReadonlyMap<PoolId, PoolOutcome>> {
  const rows = await database.query<
    Omit<PoolFacts, 'tokens'> & {
      readonly pool: PoolId;
      readonly factory: Address;
      readonly token0: Address | null;
      readonly token1: Address | null;
      readonly block: number;
    }
  >(
    sql`SELECT DISTINCT ON (creation.pool) ${hexText('creation.pool')} AS pool, ${hexText('factory')} AS factory, ${hexText('token0')} AS token0,
       ${hexText('token1')} AS token1, fee, tick_spacing, is_stable, ${hexText('hooks')} AS hooks, block_number AS block
     FROM unnest(${pools.map(poolKey)}::bigint[], ${pools.map(hexBytes)}::bytea[]) AS due (pool_key, pool) JOIN pool_creations AS creation USING (pool_key)
     WHERE creation.chain_id = ${chainId} AND creation.pool = due.pool ORDER BY creation.pool, block_number, transaction_index, log_index`,
  );
  const outcomes = new Map<PoolId, PoolOutcome>();
  for (const { factory, token0, token1, block, ...facts } of rows) {
    const exchange = byFactory.get(factory);
    if (exchange === undefined) continue;
    const tokens = token0 === null || token1 === null ? null : ([token0, token1] as const);
    const proven = { ...exchange, ...facts, tokens };
    outcomes.set(facts.pool, { status: 'proven', pool: proven, by: 'creation', block });
  }
  return outcomes;
}

export async function storeOutcomes(
  database: Database,
  chain: HookedChain,
  outcomes: readonly (readonly [Claim<UnprovenPool>, PoolOutcome])[],
): Promise<void> {
  // Rows that arrive meanwhile wait for the commit lock, and find the pool proven.
  await underCommitLock(database, chain, async (transaction) => {
    for (const [claim, outcome] of outcomes) await storeOutcome(transaction, chain, claim, outcome);
  });
}

async function storeOutcome(
  transaction: Transaction,
  chain: HookedChain,
  claim: Claim<UnprovenPool>,
  outcome: PoolOutcome,
): Promise<void> {
  const proof = outcome.status === 'proven' ? outcome.by : null;
  const facts = outcome.status === 'proven' ? outcome.pool : null;
  const counting = facts === null ? null : countingOf(facts, chain);
  const isTrusted = counting?.isTrusted ?? false;
  const { token0: guessed0, token1: guessed1, pool } = claim.row;
  const [token0 = null, token1 = null] = facts === null ? [guessed0, guessed1] : (facts.tokens ?? []);
  const rows = await transaction.query<{ chainId: number }>(
    sql`UPDATE pools SET status = ${outcome.status}, proof = ${proof}, proof_block = ${outcome.status === 'unproven' ? null : outcome.block},
       exchange = ${facts?.exchange.name ?? null}, factory = ${bytesOrNull(facts?.deployment.factory)}, token0 = ${bytesOrNull(token0)},
       token1 = ${bytesOrNull(token1)}, fee = ${facts?.fee ?? null}, tick_spacing = ${facts?.tickSpacing ?? null},
       is_stable = ${facts?.isStable ?? null}, hooks = ${bytesOrNull(facts?.hooks)}, is_counted = ${counting?.isCounted ?? false},
       is_trusted = ${isTrusted}, left_out = ${facts === null ? null : await leftOutOf(transaction, chain.id, facts, isTrusted)}, ${SETTLED}
     WHERE ${isClaimed(DUE_POOLS, claim)} RETURNING chain_id`,
  );
  if (rows.length === 0) return;
  await replaceTrades(transaction, chain.id, pool);
  if (facts !== null) await addTokens(transaction, chain, facts);
}

/** Prices need decimals, also of tokens that had no transfer or no code until now. */
async function addTokens(
  transaction: Transaction,
  { id }: Pick<HookedChain, 'id'>,
  { tokens }: Pick<ProvenPool, 'tokens'>,
): Promise<void> {
  const contracts = (tokens ?? []).filter((token) => token !== ZERO_ADDRESS);
  await transaction.query(
    sql`INSERT INTO tokens (address, chain_id) SELECT address, ${id} FROM unnest(${contracts.map(addressBytes)}::bytea[]) AS found (address) ORDER BY address
     ON CONFLICT (address, chain_id) DO NOTHING`,
  );
  await requestTokenFacts(transaction, id, contracts, sql`decimals IS NULL`);
}

/** Under the chain's commit lock. A worker with the pool keeps its claim: both agree. */
export async function storeFoundPool(
  transaction: Transaction,
  chain: HookedChain,
  found: ProvenPool,
  block: number,
) {
  const { pool, exchange, deployment, tokens, fee, tickSpacing, isStable, hooks } = found;
  const { isCounted, isTrusted } = countingOf(found, chain);
  const rows = await transaction.query<{ chainId: number }>(
    sql`INSERT INTO pools AS stored (pool_key, chain_id, pool, status, proof, proof_block, exchange, factory, token0, token1, fee, tick_spacing,
       is_stable, hooks, is_counted, is_trusted, due_at)
     VALUES (${poolKey(pool)}, ${chain.id}, ${hexBytes(pool)}, 'proven', 'factory', ${block}, ${exchange.name}, ${bytesOrNull(deployment.factory)},
       ${bytesOrNull(tokens?.[0])}, ${bytesOrNull(tokens?.[1])}, ${fee}, ${tickSpacing}, ${isStable}, ${bytesOrNull(hooks)},
       ${isCounted}, ${isTrusted}, NULL)
     ON CONFLICT (pool_key, chain_id, pool) DO UPDATE SET status = excluded.status, proof = excluded.proof, proof_block = excluded.proof_block,
       exchange = excluded.exchange, factory = excluded.factory, token0 = excluded.token0, token1 = excluded.token1, fee = excluded.fee,
       tick_spacing = excluded.tick_spacing, is_stable = excluded.is_stable, hooks = excluded.hooks, is_counted = excluded.is_counted,
       is_trusted = excluded.is_trusted,
       due_at = CASE WHEN stored.lease_until IS NULL THEN NULL ELSE stored.due_at END
     WHERE stored.status <> 'proven' RETURNING chain_id`,
  );
  if (rows.length > 0) await replaceTrades(transaction, chain.id, pool);
  await addTokens(transaction, chain, found);
}

function bytesOrNull(hex: Hex | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : hexBytes(hex);
}

type HookedChain = Pick<Chain, 'id' | 'trustedHooks'>;

/** Last bits of a hook's address: BEFORE_ and AFTER_SWAP_RETURNS_DELTA (Uniswap v4 Hooks.sol). */
const RETURNS_DELTA = 0b1100n;

function countingOf(
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

interface TrustedHookOptions {
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

/** The proof may change the tokens or the counting. Under the chain's commit lock. */
export async function replaceTrades(transaction: Transaction, chainId: ChainId, pool: PoolId): Promise<void> {
  const of = [poolKey(pool), chainId, hexBytes(pool)] as const;
  const [key, , bytes] = of;
  await transaction.query(
    sql`DELETE FROM trades AS trade USING swaps AS swap WHERE trade.pool_key = ${key} AND trade.chain_id = ${chainId}
       AND swap.pool_key = ${key} AND swap.chain_id = ${chainId} AND swap.pool = ${bytes} AND (swap.block_number, swap.transaction_index, swap.log_index) = (trade.block_number, trade.transaction_index, trade.log_index)`,
  );
  await runStatements(transaction, [addTradesOfPool(...of), markPoolStale(...of), forgetTradersOfPool(...of)]);
}
