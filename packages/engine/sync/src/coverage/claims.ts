/** Claims of a chain never overlap (exclusion constraint). Owners hold a lease. */
import { randomBytes } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, ChainsteadError } from '@chainstead/core';
import { type Database, LEASE_IS_HELD, sql, type Transaction, tryAcquireLeadership } from '@chainstead/db';
import { RangeClaimedError } from '../errors.ts';

/** `help`: fills blocks next to the process with the `backfill` claims. */
export type ClaimPurpose = 'backfill' | 'help' | 'prover' | 'reindex' | 'verify';

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
    async claim(chainId, range, purpose) {
      await removeDeadClaims(database, chainId, range);
      // Invariant: SYNC-CLAIMS-DISJOINT
      const claimed = await database.query(
        sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose)
         VALUES (${chainId}, ${range.from}, ${range.to}, ${key.toString()}::bigint, ${purpose})
         ON CONFLICT DO NOTHING RETURNING true AS claimed`,
      );
      return claimed.length === 1;
    },
    async release(chainId, { from, to }) {
      await database.query(
        // Inside: the start of a claim may be written already.
        sql`DELETE FROM sync_claims
          WHERE chain_id = ${chainId} AND owner = ${key.toString()} AND first_block >= ${from} AND last_block <= ${to}`,
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

/** Skips rows that another process removes. */
async function removeDeadClaims(database: Database, chainId: ChainId, range: BlockRange): Promise<void> {
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
  const rows = await source.query<{ chainId: number }>(
    sql`SELECT DISTINCT c.chain_id FROM sync_claims c
      WHERE c.chain_id = ANY(${chainIds}::bigint[]) AND c.purpose = 'backfill' AND ${OWNER_LIVES}`,
  );
  return new Set(rows.map(({ chainId }) => chainId));
}

/** In the transaction that writes the range. A claim of which only the start or the end is written stays for the rest. @throws RangeClaimedError if the claim is lost */
export async function consumeClaim(
  transaction: Transaction,
  owner: Pick<ClaimOwner, 'key' | 'lost'>,
  chain: Pick<Chain, 'id' | 'key'>,
  range: BlockRange,
): Promise<void> {
  owner.lost.throwIfAborted();
  const ownOf = sql`chain_id = ${chain.id} AND owner = ${owner.key.toString()}`;
  const fromStart = sql`${ownOf} AND first_block = ${range.from}`;
  // Invariant: SYNC-CLAIMS-DISJOINT
  const ended = await transaction.query(
    sql`WITH ended AS (DELETE FROM sync_claims WHERE ${fromStart} AND last_block = ${range.to} RETURNING true AS ended),
      cut AS (UPDATE sync_claims SET first_block = ${range.to}::bigint + 1 WHERE ${fromStart} AND last_block > ${range.to} RETURNING true AS ended),
      cut_end AS (UPDATE sync_claims SET last_block = ${range.from}::bigint - 1
        WHERE ${ownOf} AND last_block = ${range.to} AND first_block < ${range.from} RETURNING true AS ended)
      SELECT ended FROM ended UNION ALL SELECT ended FROM cut UNION ALL SELECT ended FROM cut_end`,
  );
  if (ended.length === 0) throw new RangeClaimedError({ chain: chain.key, range, purpose: 'process' });
}
