/** Claims of a chain never overlap (exclusion constraint). Owners hold a lease. */
import { randomBytes } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import type { BlockRange, ChainId } from '@chainstead/core';
import { ChainsteadError } from '@chainstead/core';
import {
  type Database,
  LEASE_IS_HELD,
  type Sql,
  sql,
  type Transaction,
  tryAcquireLeadership,
} from '@chainstead/db';
import { RangeClaimedError } from '../errors.ts';

/** `help`: fills blocks next to the process with the `backfill` claims. */
export type ClaimPurpose = 'backfill' | 'help' | 'prover' | 'reindex' | 'verify' | 'history';

export interface ClaimOwner {
  readonly key: bigint;
  /** The lease is lost: nothing may be committed under its claims. */
  readonly lost: AbortSignal;
  /** False if a live owner has claimed part of the range. */
  claim(chainId: ChainId, range: BlockRange, purpose: ClaimPurpose): Promise<boolean>;
  /** @param ranges ascending, so that two owners can't deadlock. @returns those that no live owner has claimed */
  claimEach(chainId: ChainId, ranges: readonly BlockRange[], purpose: ClaimPurpose): Promise<BlockRange[]>;
  release(chainId: ChainId, ...ranges: readonly BlockRange[]): Promise<void>;
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
    claim: async (chainId, range, purpose) =>
      (await claimEach(database, key, chainId, [range], purpose)).length === 1,
    claimEach: (chainId, ranges, purpose) => claimEach(database, key, chainId, ranges, purpose),
    release: async (chainId, ...ranges) => {
      await database.query(
        // Inside: the start of a claim may be written already.
        sql`DELETE FROM sync_claims USING ${rangesAsRows(ranges)} AS run(from_block, to_block)
          WHERE chain_id = ${chainId} AND owner = ${key.toString()} AND first_block >= from_block AND last_block <= to_block`,
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

async function claimEach(
  database: Database,
  key: bigint,
  chainId: ChainId,
  ranges: readonly BlockRange[],
  purpose: ClaimPurpose,
): Promise<BlockRange[]> {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) return [];
  await removeDeadClaims(database, chainId, { from: first.from, to: last.to });
  // Invariant: SYNC-CLAIMS-DISJOINT
  const claimed = await database.query<BlockRange>(
    sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose)
     SELECT ${chainId}, run.first_block, run.last_block, ${key.toString()}::bigint, ${purpose}
       FROM ${rangesAsRows(ranges)} AS run(first_block, last_block) ORDER BY run.first_block
     ON CONFLICT DO NOTHING RETURNING first_block AS "from", last_block AS "to"`,
  );
  return claimed.toSorted((a, b) => a.from - b.from);
}

/** Skips locked rows: two processes would lock thousands in different orders. */
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

/** In the transaction that writes the ranges. A claim of which only the start is written stays for the rest. @throws RangeClaimedError if a claim is lost */
export async function consumeClaims(
  transaction: Transaction,
  owner: Pick<ClaimOwner, 'key' | 'lost'>,
  chain: Pick<Chain, 'id' | 'key'>,
  ranges: readonly BlockRange[],
): Promise<void> {
  owner.lost.throwIfAborted();
  const ownOf = sql`chain_id = ${chain.id} AND owner = ${owner.key.toString()} AND first_block = from_block`;
  // Invariant: SYNC-CLAIMS-DISJOINT
  const ended = await transaction.query(
    sql`WITH run AS MATERIALIZED (SELECT * FROM ${rangesAsRows(ranges)} AS run(from_block, to_block)),
      ended AS (DELETE FROM sync_claims USING run WHERE ${ownOf} AND last_block = to_block RETURNING true AS ended),
      cut AS (UPDATE sync_claims SET first_block = to_block + 1 FROM run WHERE ${ownOf} AND last_block > to_block RETURNING true AS ended)
      SELECT ended FROM ended UNION ALL SELECT ended FROM cut`,
  );
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (ended.length !== ranges.length && first !== undefined && last !== undefined)
    throw new RangeClaimedError({
      chain: chain.key,
      range: { from: first.from, to: last.to },
      purpose: 'process',
    });
}

function rangesAsRows(ranges: readonly BlockRange[]): Sql {
  return sql`unnest(${ranges.map(({ from }) => from)}::bigint[], ${ranges.map(({ to }) => to)}::bigint[])`;
}
