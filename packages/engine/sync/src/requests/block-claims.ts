import type { Chain } from '@chainstead/chains';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type ClaimOwner, removeDeadClaims } from '../coverage/claims.ts';
import { RangeClaimedError } from '../errors.ts';

/** Ascending: two backfills can't deadlock. Only blocks with rows. @returns runs of blocks */
export async function claimBlocks(
  database: Database,
  owner: ClaimOwner,
  chain: Chain,
  blocks: readonly number[],
): Promise<BlockRange[]> {
  const runs = mergeRanges(blocks.map((block) => ({ from: block, to: block })));
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return [];
  await removeDeadClaims(database, chain.id, { from: first.from, to: last.to });
  const claimed = await database.query<{ from: number; to: number }>(
    sql`INSERT INTO sync_claims (chain_id, first_block, last_block, owner, purpose)
     SELECT ${chain.id}, run.first_block, run.last_block, ${owner.key.toString()}::bigint, 'history'
       FROM unnest(${runs.map(({ from }) => from)}::bigint[], ${runs.map(({ to }) => to)}::bigint[]) AS run(first_block, last_block) ORDER BY run.first_block
     ON CONFLICT DO NOTHING RETURNING first_block AS "from", last_block AS "to"`,
  );
  return claimed.toSorted((a, b) => a.from - b.from);
}

/** In the transaction that writes the blocks. @throws RangeClaimedError if a claim is lost */
export async function consumeBlocks(
  transaction: Transaction,
  owner: ClaimOwner,
  chain: Chain,
  claimed: readonly BlockRange[],
): Promise<void> {
  owner.lost.throwIfAborted();
  const [ended] = await transaction.query<{ count: number }>(
    sql`WITH ended AS (
       DELETE FROM sync_claims USING unnest(${claimed.map(({ from }) => from)}::bigint[], ${claimed.map(({ to }) => to)}::bigint[]) AS run(from_block, to_block)
        WHERE chain_id = ${chain.id} AND owner = ${owner.key.toString()} AND first_block = from_block AND last_block = to_block RETURNING 1)
     SELECT count(*)::int AS count FROM ended`,
  );
  const [first, last] = [claimed[0], claimed.at(-1)];
  if (ended?.count !== claimed.length && first !== undefined && last !== undefined)
    throw new RangeClaimedError({ chain: chain.key, range: { from: first.from, to: last.to }, purpose: 'process' });
}

export async function releaseBlocks(
  database: Database,
  owner: ClaimOwner,
  chain: Chain,
  claimed: readonly BlockRange[],
): Promise<void> {
  await database.query(
    sql`DELETE FROM sync_claims WHERE chain_id = ${chain.id} AND owner = ${owner.key.toString()} AND first_block = ANY (${claimed.map(({ from }) => from)}::bigint[])`,
  );
}
