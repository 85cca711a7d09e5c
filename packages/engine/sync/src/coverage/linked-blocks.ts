/**
 * Blocks that are known to be of the followed chain: parent hashes lead from a followed block down to each, or a second
 * upstream returned the same hash. Whole blocks without such a link are covered as `record`, with the level that the link
 * gives them as the reason.
 */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, ChainId, Hash } from '@chainstead/core';
import { type Database, hexText, rawSql, sql, type Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset/dataset.ts';
import { listCoverage, recordCoverage } from './coverage.ts';
import { datasetsWithHistories } from './subject.ts';

type Source = Pick<Database, 'query'>;

/** A level that needs a link. `cross` has one: a second upstream returned the block. */
type LinkedLevel = 'receipts' | 'not-applicable';

interface LinkedBlock extends IndexedBlock {
  readonly parentHash: Hash | null;
}

const LINKED_LEVELS = rawSql("('receipts', 'cross', 'not-applicable')");
/** Condition on a row `b` of `blocks`. */
export const IS_FOLLOWED = sql`EXISTS (SELECT FROM sync_chains c WHERE c.chain_id = b.chain_id AND b.block_number BETWEEN c.first_followed AND c.checkpoint)`;
export const IS_LINKED = sql`(${IS_FOLLOWED} OR EXISTS (SELECT FROM sync_ranges r WHERE r.chain_id = b.chain_id AND r.proof IN ${LINKED_LEVELS}
  AND b.block_number BETWEEN r.first_block AND r.last_block))`;

/** The block and the one above it, as far as they are stored and linked. */
export function readLinkedBlocks(source: Source, chainId: ChainId, block: number): Promise<LinkedBlock[]> {
  return source.query<LinkedBlock>(
    sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash, ${hexText('parent_hash')} AS parent_hash FROM blocks b
      WHERE chain_id = ${chainId} AND block_number BETWEEN ${block} AND ${block + 1} AND ${IS_LINKED}`,
  );
}

/** The first followed block: every upstream of the chain has it. Null: none is followed yet. */
export async function readFollowedBlock(source: Source, chainId: ChainId): Promise<IndexedBlock | null> {
  const [block] = await source.query<IndexedBlock>(
    sql`SELECT b.block_number AS number, ${hexText('b.block_hash')} AS hash FROM blocks b
      JOIN sync_chains c ON c.chain_id = b.chain_id AND c.first_followed = b.block_number
      WHERE b.chain_id = ${chainId} AND ${IS_FOLLOWED}`,
  );
  return block ?? null;
}

/** The oldest linked block above genesis, which a restarted chain may share. Null: none up to `highest`. */
export async function readOldestLinked(
  source: Source,
  chainId: ChainId,
  highest: number,
): Promise<IndexedBlock | null> {
  const [block] = await source.query<IndexedBlock>(
    sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks b
      WHERE chain_id = ${chainId} AND block_number <= ${highest} AND ${IS_LINKED}
        AND block_number >= greatest(1, least((SELECT first_followed FROM sync_chains WHERE chain_id = ${chainId}),
          (SELECT min(first_block) FROM sync_ranges WHERE chain_id = ${chainId} AND proof IN ${LINKED_LEVELS})))
      ORDER BY block_number LIMIT 1`,
  );
  return block ?? null;
}

/** Pairs of stored blocks of which the upper one names the lower one as its parent, by the lower one. */
const pairsIn = (chainId: ChainId, from: number, to: number) =>
  sql`SELECT b.block_number AS n FROM blocks b
    JOIN blocks up ON up.chain_id = b.chain_id AND up.block_number = b.block_number + 1 AND up.parent_hash = b.block_hash
    WHERE b.chain_id = ${chainId} AND b.block_number BETWEEN ${from} AND ${to}`;

/** Stored parent hashes lead from a followed block down to it. A contradicted block may be one that no link was required of. */
export async function isLinkedByParents(source: Source, chainId: ChainId, block: number): Promise<boolean> {
  const [state] = await source.query<{ followed: number }>(
    sql`SELECT first_followed AS followed FROM sync_chains WHERE chain_id = ${chainId} AND checkpoint IS NOT NULL`,
  );
  if (state === undefined) return false;
  const { followed } = state;
  if (block >= followed) return true;
  const [pairs] = await source.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM (${pairsIn(chainId, block, followed - 1)}) AS pair`,
  );
  return pairs?.count === followed - block;
}

/**
 * Raises ranges of level `record` that parent hashes lead to by now. In the transaction that wrote the blocks above or
 * in them, under the commit lock. Ranges with rows of histories stay: only a repair finds rows that nodes invented.
 */
export async function raiseLinked(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
): Promise<void> {
  for (let isRaised = true; isRaised; ) {
    isRaised = false;
    for (const { dataset: name, proof, reason, range, upstream } of await listCoverage(transaction, chain.id)) {
      const dataset = datasets.find((one) => one.name === name);
      if (!isLevel(reason) || proof !== 'record' || dataset === undefined) continue;
      const from = await lowestLinked(transaction, chain.id, range);
      if (from === null) continue;
      const linked = { from, to: range.to };
      if ((await datasetsWithHistories(transaction, chain, [dataset], linked)).length > 0) continue;
      // Invariant: PROOF-SAME-CHAIN
      await recordCoverage(transaction, chain.id, [name], {
        range: linked,
        proof: reason,
        reason: null,
        upstream,
      });
      isRaised = true;
    }
  }
}

function isLevel(reason: string | null): reason is LinkedLevel {
  return reason === 'receipts' || reason === 'not-applicable';
}

/** Null: the block above the range is not linked, or has another parent. */
async function lowestLinked(source: Source, chainId: ChainId, { from, to }: BlockRange): Promise<number | null> {
  const [lowest] = await source.query<{ from: number | null }>(
    sql`WITH pair AS (${pairsIn(chainId, from, to)}), placed AS (SELECT n, n - row_number() OVER (ORDER BY n) AS run FROM pair)
      SELECT min(n) AS "from" FROM placed WHERE run = ${to}::bigint - (SELECT count(*) FROM pair)
        AND EXISTS (SELECT FROM blocks b WHERE b.chain_id = ${chainId} AND b.block_number = ${to}::bigint + 1 AND ${IS_LINKED})`,
  );
  return lowest?.from ?? null;
}

interface IndexedBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** Blocks below the checkpoint. No chain normally reorganizes this deep. */
const SETTLED_DEPTH = 256;

/** Another node of the same chain must have both. */
export function readKnownBlocks(database: Pick<Database, 'query'>, chainId: ChainId): Promise<IndexedBlock[]> {
  const ofChain = sql`chain_id = ${chainId}`;
  const block = sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks WHERE ${ofChain}`;
  return database.query<IndexedBlock>(
    sql`(${block} ORDER BY block_number LIMIT 1)
     UNION
     (${block} AND block_number <= (SELECT max(checkpoint) - ${SETTLED_DEPTH} FROM sync_chains WHERE ${ofChain})
       ORDER BY block_number DESC LIMIT 1)
     ORDER BY number`,
  );
}
