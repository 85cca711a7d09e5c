import type { Chain } from '@chainstead/chains';
import type { Transaction } from '@chainstead/db';
import type { MatchKey } from '../delivery/delivery.ts';
import { deliveryId } from '../delivery-id.ts';
import type { BlockMatch } from './match-blocks.ts';
import { addDeliveries } from './outbox-rows.ts';

/** Rows per statement: a busy batch has tens of thousands, each with its match as text. */
const ROWS_PER_STATEMENT = 2_000;

/**
 * Writes matches, each with its unconfirmed webhook. If a reorg restores a block, its matches become valid again,
 * dropped webhooks are due again, and an unsent removal notice is dropped.
 * @returns the number of webhooks that became due.
 */
export async function recordMatches(
  transaction: Transaction,
  chain: Chain,
  matches: readonly BlockMatch[],
): Promise<number> {
  let due = 0;
  for (let from = 0; from < matches.length; from += ROWS_PER_STATEMENT) {
    const part = matches.slice(from, from + ROWS_PER_STATEMENT);
    const keys = part.map((one) => matchKey(chain, one));
    if (await insertMatches(transaction, part, keys)) await dropRemovals(transaction, keys);
    due += await addDeliveries(transaction, 'unconfirmed', keys);
  }
  return due;
}

export function matchKey(chain: Chain, { block, match }: BlockMatch): MatchKey {
  return {
    chainId: chain.id,
    blockNumber: block.header.number,
    blockHash: block.header.hash,
    streamId: match.streamId,
  };
}

/** The columns of a match in the order of `MATCH_VALUES`. */
export function matchColumns(matches: readonly BlockMatch[], keys: readonly MatchKey[]): readonly unknown[] {
  return [
    keys.map(({ chainId }) => chainId),
    keys.map(({ blockNumber }) => blockNumber),
    keys.map(({ streamId }) => streamId),
    keys.map(({ blockHash }) => blockHash.slice(2)),
    matches.map(({ block }) => block.header.timestamp),
    matches.map(({ match }) => JSON.stringify(match)),
    matches.map(({ match }) => match.logs.length),
    matches.map(({ match }) => match.transactions.length),
    matches.map(({ match }) => match.internalTransactions.length),
  ];
}

/** Inserts the `matchColumns` values as $1 to $9; append the conflict clause. */
export const INSERT_MATCHES = `INSERT INTO stream_matches AS kept
    (chain_id, block_number, stream_id, block_hash, block_timestamp, matched, logs, txs, txs_internal)
  SELECT chain_id, block_number, stream_id, decode(block_hash, 'hex'), to_timestamp(seconds), matched, logs, txs, internal
  FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[], $6::text[], $7::int[], $8::int[], $9::int[])
    AS made(chain_id, block_number, stream_id, block_hash, seconds, matched, logs, txs, internal)`;

/** @returns whether any existed before. */
async function insertMatches(
  transaction: Transaction,
  matches: readonly BlockMatch[],
  keys: readonly MatchKey[],
): Promise<boolean> {
  const [row] = await transaction.query<{ back: boolean | null }>(
    `WITH written AS (
       ${INSERT_MATCHES}
       ON CONFLICT (chain_id, block_number, stream_id, block_hash) DO UPDATE SET removed_at = NULL
       RETURNING xmax <> 0 AS back
     )
     SELECT bool_or(back) AS back FROM written`,
    matchColumns(matches, keys),
  );
  return row?.back === true;
}

async function dropRemovals(transaction: Transaction, keys: readonly MatchKey[]): Promise<void> {
  await transaction.query(
    "UPDATE stream_deliveries SET status = 'dropped' WHERE id = ANY ($1::uuid[]) AND status = 'pending'",
    [keys.map((key) => deliveryId('removed', key))],
  );
}
