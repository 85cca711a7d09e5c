/** Claims of a chain never overlap (exclusion constraint). Owners hold a lease. */
import { randomBytes } from 'node:crypto';
import type { BlockRange, ChainId } from '@chainstead/core';
import { ChainsteadError } from '@chainstead/core';
import { type Database, LEASE_IS_HELD, sql, type Transaction, tryAcquireLeadership } from '@chainstead/db';

/** `help`: fills blocks next to the process with the `backfill` claims. */
export type ClaimPurpose = 'backfill' | 'help' | 'prover' | 'reindex' | 'verify' | 'history';

export interface ClaimOwner {
  readonly key: bigint;
  /** The lease is lost: nothing may be committed under its claims. */
  readonly lost: AbortSignal;
  /** False if a live owner has claimed part of the range. */
  claim(chainId: ChainId, range: BlockRange, purpose: ClaimPurpose): Promise<boolean>;
  release(chainId: ChainId, range: BlockRange): Promise<void>;
  close(): Promise<void>;
}

const OWNER_LIVES = sql`EXISTS (
  SELECT FROM leases AS lease WHERE lease.name = 'claims:' || c.owner AND ${LEASE_IS_HELD})`;

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
      await database.query(
        sql`DELETE FROM sync_claims WHERE chain_id = ${chainId} AND first_block = ${range.from} AND owner = ${key.toString()}`,
      );
    },
    async close() {
      try {
        // After a loss, the connection may hang. A later claimant removes dead claims.
        if (!leadership.lost.aborted)
          await database.query(sql`DELETE FROM sync_claims WHERE owner = ${key.toString()}`);
      } finally {
        await leadership.release();
      }
    },
  };
}

async function claim(
  database: Database,
  key: bigint,
  chainId: ChainId,
  range: BlockRange,
  purpose: ClaimPurpose,
): Promise<boolean> {
  await removeDeadClaims(database, chainId, range);
  // Invariant: SYNC-CLAIMS-DISJOINT
  const rows = await database.query(
    sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose)
     VALUES (${chainId}, ${range.from}, ${range.to}, ${key.toString()}, ${purpose}) ON CONFLICT DO NOTHING RETURNING first_block`,
  );
  return rows.length === 1;
}

/** Skips locked rows: two processes would lock thousands in different orders. */
export async function removeDeadClaims(database: Database, chainId: ChainId, range: BlockRange): Promise<void> {
  await database.query(
    sql`DELETE FROM sync_claims WHERE (chain_id, first_block) IN (
       SELECT c.chain_id, c.first_block FROM sync_claims c
        WHERE c.chain_id = ${chainId} AND int8range(c.first_block, c.last_block, '[]') && int8range(${range.from}, ${range.to}, '[]')
          AND NOT ${OWNER_LIVES}
        FOR UPDATE SKIP LOCKED)`,
  );
}

/** Live owners only, for any purpose. */
export async function listHeldRanges(source: Pick<Database, 'query'>, chainId: ChainId): Promise<BlockRange[]> {
  return source.query<{ from: number; to: number }>(
    sql`SELECT c.first_block AS "from", c.last_block AS "to" FROM sync_claims c WHERE c.chain_id = ${chainId} AND ${OWNER_LIVES}`,
  );
}

export async function listFillingChains(
  source: Pick<Database, 'query'>,
  chainIds: readonly ChainId[],
): Promise<ReadonlySet<number>> {
  const rows = await source.query<{ chain_id: number }>(
    sql`SELECT DISTINCT c.chain_id FROM sync_claims c
      WHERE c.chain_id = ANY(${chainIds}::bigint[]) AND c.purpose = 'backfill' AND ${OWNER_LIVES}`,
  );
  return new Set(rows.map(({ chain_id }) => chain_id));
}

/** In the transaction that writes the range. False if the claim is lost. */
export async function consumeClaim(
  transaction: Transaction,
  key: bigint,
  chainId: ChainId,
  range: BlockRange,
): Promise<boolean> {
  const rows = await transaction.query(
    sql`DELETE FROM sync_claims WHERE chain_id = ${chainId} AND first_block = ${range.from} AND last_block = ${range.to} AND owner = ${key.toString()} RETURNING 1 AS ended`,
  );
  return rows.length === 1;
}
