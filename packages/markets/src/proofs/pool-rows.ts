import { type Address, type ChainId, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, hexTextOld, sql, type Transaction } from '@chainstead/db';
import { type Claim, claimValues, type DueTable, isClaimed, settled } from '@chainstead/jobs';
import { underCommitLock } from '@chainstead/sync';
import { requestTokenFacts } from '@chainstead/tokens';
import type { PoolId } from '../events/pool-event.ts';
import type { ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { PoolProof } from '../tables/schema.ts';
import { leftOutOf } from '../vault-liquidity/left-out-pools.ts';
import { replaceTrades } from './replace-trades.ts';
import { countingOf, type HookedChain } from './trusted-hooks.ts';

/** Name of the work on unproven pools in metrics, logs and notifications. */
export const POOL_WORK = 'pool-proof';

/** `pools` as due work. */
export const DUE_POOLS: DueTable = {
  name: 'pools',
  key: ['pool_key', 'chain_id', 'pool'],
  isOpen: 'coalesce(lease_until, due_at) IS NOT NULL',
  isSpread: true,
};

/** A claimed pool. */
export interface UnprovenPool {
  readonly pool: PoolId;
  /** Contract that holds it; null: it is a contract. */
  readonly vault: Address | null;
  /** Guesses. */
  readonly token0: Address | null;
  readonly token1: Address | null;
}

export const UNPROVEN_POOL_COLUMNS = ['pool', 'vault', 'token0', 'token1']
  .map((column) => `${hexTextOld(`work.${column}`)} AS ${column}`)
  .join(', ');

/** Outcome of an attempt. */
export type PoolOutcome =
  | { readonly status: 'proven'; readonly pool: ProvenPool; readonly by: PoolProof; readonly block: number | null }
  | { readonly status: 'disproved'; readonly block: number | null }
  /** Only a creation event can decide. */
  | { readonly status: 'unproven' };

interface CreationRow {
  readonly pool: PoolId;
  readonly factory: Address;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly fee: number | null;
  readonly tick_spacing: number | null;
  readonly is_stable: boolean | null;
  readonly hooks: Address | null;
  readonly block_number: number;
}

/** Returns the outcomes of pools whose creation is indexed, by the first event of each. */
export async function readCreations(
  database: Database,
  chainId: ChainId,
  { byFactory }: Pick<ChainExchanges, 'byFactory'>,
  pools: readonly PoolId[],
): Promise<ReadonlyMap<PoolId, PoolOutcome>> {
  const rows = await database.query<CreationRow>(
    sql`SELECT DISTINCT ON (creation.pool) ${hexText('creation.pool')} AS pool, ${hexText('factory')} AS factory, ${hexText('token0')} AS token0,
       ${hexText('token1')} AS token1, fee, tick_spacing, is_stable, ${hexText('hooks')} AS hooks, block_number
     FROM unnest(${pools.map(poolKey)}::bigint[], ${pools.map(hexBytes)}::bytea[]) AS due (pool_key, pool) JOIN pool_creations AS creation USING (pool_key)
     WHERE creation.chain_id = ${chainId} AND creation.pool = due.pool ORDER BY creation.pool, block_number, transaction_index, log_index`,
  );
  const outcomes = new Map<PoolId, PoolOutcome>();
  for (const row of rows) {
    const exchange = byFactory.get(row.factory);
    // An exchange that this version no longer lists.
    if (exchange === undefined) continue;
    const { pool, fee, hooks, tick_spacing: tickSpacing, is_stable: isStable } = row;
    const tokens = row.token0 === null || row.token1 === null ? null : ([row.token0, row.token1] as const);
    const proven = { ...exchange, pool, tokens, fee, tickSpacing, isStable, hooks };
    outcomes.set(pool, { status: 'proven', pool: proven, by: 'creation', block: row.block_number });
  }
  return outcomes;
}

/** Stores outcomes, ends the claims, and adds or deletes trades of the pools. */
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
  const found = outcome.status === 'proven' ? outcome : null;
  const counting = found === null ? null : countingOf(found.pool, chain);
  const { token0: guessed0, token1: guessed1, pool } = claim.row;
  const [token0 = null, token1 = null] = found === null ? [guessed0, guessed1] : (found.pool.tokens ?? []);
  const rows = await transaction.query<{ chain_id: number }>(
    `UPDATE pools SET status = $1, proof = $2, proof_block = $3, exchange = $4, factory = $5, token0 = $6, token1 = $7, fee = $8, tick_spacing = $9,
       is_stable = $10, hooks = $11, is_counted = $12, is_trusted = $13, left_out = $14, ${settled()} WHERE ${isClaimed(DUE_POOLS, 15)} RETURNING chain_id`,
    [
      outcome.status,
      found?.by ?? null,
      outcome.status === 'unproven' ? null : outcome.block,
      found?.pool.exchange.name ?? null,
      bytesOrNull(found?.pool.deployment.factory),
      bytesOrNull(token0),
      bytesOrNull(token1),
      found?.pool.fee ?? null,
      found?.pool.tickSpacing ?? null,
      found?.pool.isStable ?? null,
      bytesOrNull(found?.pool.hooks),
      counting?.isCounted ?? false,
      counting?.isTrusted ?? false,
      found === null ? null : await leftOutOf(transaction, chain.id, found.pool, counting?.isTrusted === true),
      ...claimValues(claim),
    ],
  );
  // Another worker took the pool over.
  if (rows.length === 0) return;
  await replaceTrades(transaction, chain.id, pool);
  if (found !== null) await addTokens(transaction, chain, found.pool);
}

/**
 * Prices need the decimals of both tokens, also of one that never logged a transfer. The worker reads those that are new, and again those
 * without decimals: such as of a contract that had no code yet.
 */
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
  await requestTokenFacts(transaction, id, contracts, 'decimals IS NULL');
}

/**
 * Stores a pool that its factory returned at a block, if it is not proven yet. Under the chain's commit lock. A worker that examines the same
 * pool keeps its claim: both come to the same.
 */
export async function storeFoundPool(
  transaction: Transaction,
  chain: HookedChain,
  found: ProvenPool,
  block: number,
): Promise<void> {
  const { pool, exchange, deployment, tokens, fee, tickSpacing, isStable, hooks } = found;
  const { isCounted, isTrusted } = countingOf(found, chain);
  const rows = await transaction.query<{ chain_id: number }>(
    `INSERT INTO pools AS stored (pool_key, chain_id, pool, status, proof, proof_block, exchange, factory, token0, token1, fee, tick_spacing,
       is_stable, hooks, is_counted, is_trusted, due_at)
     VALUES ($1, $2, $3, 'proven', 'factory', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, NULL)
     ON CONFLICT (pool_key, chain_id, pool) DO UPDATE SET status = excluded.status, proof = excluded.proof, proof_block = excluded.proof_block,
       exchange = excluded.exchange, factory = excluded.factory, token0 = excluded.token0, token1 = excluded.token1, fee = excluded.fee,
       tick_spacing = excluded.tick_spacing, is_stable = excluded.is_stable, hooks = excluded.hooks, is_counted = excluded.is_counted,
       is_trusted = excluded.is_trusted,
       due_at = CASE WHEN stored.lease_until IS NULL THEN NULL ELSE stored.due_at END
     WHERE stored.status <> 'proven' RETURNING chain_id`,
    [
      ...[poolKey(pool), chain.id, hexBytes(pool), block, exchange.name, bytesOrNull(deployment.factory)],
      ...[bytesOrNull(tokens?.[0]), bytesOrNull(tokens?.[1]), fee, tickSpacing, isStable, bytesOrNull(hooks)],
      ...[isCounted, isTrusted],
    ],
  );
  if (rows.length > 0) await replaceTrades(transaction, chain.id, pool);
  await addTokens(transaction, chain, found);
}

function bytesOrNull(hex: Hex | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : hexBytes(hex);
}
