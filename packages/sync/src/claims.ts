/**
 * Claims: which work holds which blocks (`sync_claims`). Two claims of a chain never overlap (exclusion constraint). An
 * owner holds a lease as long as it lives, so the claims of a killed process are recognised at once.
 */
import { randomBytes } from 'node:crypto';
import type { BlockRange, ChainId } from '@chainstead/core';
import { ChainsteadError } from '@chainstead/core';
import { type Database, LEASE_IS_HELD, type Leadership, type Transaction, tryAcquireLeadership } from '@chainstead/db';

/** `help`: a process fills history beside the one whose claims say `backfill`. */
export type ClaimPurpose = 'backfill' | 'help' | 'prover' | 'reindex' | 'verify' | 'history';

export interface ClaimOwner {
  /** Names the lease that this owner holds. */
  readonly key: bigint;
  /** Aborts when the lease is lost: nothing may be committed under its claims any more. */
  readonly lost: AbortSignal;
  /** False when any part of the range is claimed by a living owner. */
  claim(chainId: ChainId, range: BlockRange, purpose: ClaimPurpose): Promise<boolean>;
  /** Gives the claim up without having written anything. */
  release(chainId: ChainId, range: BlockRange): Promise<void>;
  close(): Promise<void>;
}

/** In SQL: the owner of the claim `c` lives. */
const OWNER_LIVES = `EXISTS (
  SELECT FROM leases AS lease WHERE lease.name = 'claims:' || c.owner AND ${LEASE_IS_HELD})`;

/** Becomes an owner of claims. @throws ChainsteadError when another owner has the same key (one in 2^62). */
export async function createClaimOwner(database: Database): Promise<ClaimOwner> {
  const key = BigInt.asUintN(62, randomBytes(8).readBigInt64BE());
  const { leadership } = await tryAcquireLeadership(database, `claims:${key}`);
  if (leadership === null)
    throw new ChainsteadError({
      code: 'CLAIM_OWNER',
      message: 'Another process holds the same claim key',
      retryable: true,
    });
  return {
    key,
    lost: leadership.lost,
    claim: (chainId, range, purpose) => claim(database, key, chainId, range, purpose),
    release: async (chainId, range) => {
      await database.query('DELETE FROM sync_claims WHERE chain_id = $1 AND first_block = $2 AND owner = $3', [
        chainId,
        range.from,
        key.toString(),
      ]);
    },
    close: () => closeOwner(database, leadership, key),
  };
}

async function closeOwner(database: Database, leadership: Leadership, key: bigint): Promise<void> {
  try {
    // After the loss it may be in the middle of a silence; whoever wants the blocks drops the claims then.
    if (!leadership.lost.aborted) await database.query('DELETE FROM sync_claims WHERE owner = $1', [key.toString()]);
  } finally {
    await leadership.release();
  }
}

async function claim(
  database: Database,
  key: bigint,
  chainId: ChainId,
  range: BlockRange,
  purpose: ClaimPurpose,
): Promise<boolean> {
  await removeDeadClaims(database, chainId, range);
  const rows = await database.query(
    `INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING first_block`,
    [chainId, range.from, range.to, key.toString(), purpose],
  );
  return rows.length === 1;
}

/**
 * Drops overlapping claims whose owner holds no lease any more: that owner died. Those that somebody else is dropping at
 * this moment are left to them: a dead history may have left thousands, which two processes would lock in different orders.
 */
export async function removeDeadClaims(database: Database, chainId: ChainId, range: BlockRange): Promise<void> {
  await database.query(
    `DELETE FROM sync_claims WHERE (chain_id, first_block) IN (
       SELECT c.chain_id, c.first_block FROM sync_claims c
        WHERE c.chain_id = $1 AND int8range(c.first_block, c.last_block, '[]') && int8range($2, $3, '[]')
          AND NOT ${OWNER_LIVES}
        FOR UPDATE SKIP LOCKED)`,
    [chainId, range.from, range.to],
  );
}

/** The claims of a chain whose owners live, for whatever purpose. */
export async function listHeldRanges(source: Pick<Database, 'query'>, chainId: ChainId): Promise<BlockRange[]> {
  return source.query<{ from: number; to: number }>(
    `SELECT c.first_block AS "from", c.last_block AS "to" FROM sync_claims c WHERE c.chain_id = $1 AND ${OWNER_LIVES}`,
    [chainId],
  );
}

/** Which of the chains somebody fills the history of at this moment, helpers aside. */
export async function listFillingChains(
  source: Pick<Database, 'query'>,
  chainIds: readonly ChainId[],
): Promise<ReadonlySet<number>> {
  const rows = await source.query<{ chain_id: number }>(
    `SELECT DISTINCT c.chain_id FROM sync_claims c
      WHERE c.chain_id = ANY($1::bigint[]) AND c.purpose = 'backfill' AND ${OWNER_LIVES}`,
    [chainIds],
  );
  return new Set(rows.map(({ chain_id }) => chain_id));
}

/** Inside the transaction that writes the range: the claim must still be ours, and ends with the commit. */
export async function consumeClaim(
  transaction: Transaction,
  key: bigint,
  chainId: ChainId,
  range: BlockRange,
): Promise<boolean> {
  const rows = await transaction.query(
    'DELETE FROM sync_claims WHERE chain_id = $1 AND first_block = $2 AND last_block = $3 AND owner = $4 RETURNING 1 AS ended',
    [chainId, range.from, range.to, key.toString()],
  );
  return rows.length === 1;
}
