import type { Chain } from '@chainstead/chains';
import { expectedTrue, hexText, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import type { TokenKey } from '../collections/token-rows.ts';
import { requestedTokens } from '../records/requested-tokens.ts';
import { NOBODY, PLACE, placeOrder, tokenMoves } from '../records/token-moves.ts';
import { changesHolder, reportsHolder } from '../transfers/moved-amounts.ts';

export interface HoldersReading {
  readonly hasRanges: boolean;
  readonly isSpread?: boolean;
}

/** An ERC-1155 id that moved more often has no known amount. */
export const ADDED_UP_MAX = 5_000;
const ACCOUNTS_MAX = 10;

/** Receipts minus transfers out: hexadecimal digits, decimal digits, newest block of both. */
export type AccountEntry = readonly [account: string, amount: string, lastBlock: number];

/**
 * One row per token, in order (records-statement.explain.test.ts): the newest transfer that shows
 * an owner, or the newest receivers (ERC-1155), or the range of the mint (never moved).
 */
export function tokenHoldersStatement(
  chain: Chain,
  tokens: readonly TokenKey[],
  { hasRanges, isSpread = false }: HoldersReading,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const changes = { chainId, columns: COLUMNS, condition: changesHolder('moved'), order: 'DESC' } as const;
  const several = joinSql(BATCHABLE.map(rawSql));
  return sql`SELECT newest.kind, ${hexText('newest.to_address')} AS "newestOwner",
  CASE WHEN newest.from_address = newest.to_address THEN coalesce(before.block_number, ranged.block_number) ELSE newest.block_number END AS "newestBlock",
  summed.accounts, summed.moves::int AS moves,
  ${hexText('ranged.to_address')} AS "rangeOwner", ranged.block_number AS "rangeBlock"
FROM ${requestedTokens(tokens, isSpread)}
LEFT JOIN LATERAL (${tokenMoves({ ...changes, condition: reportsHolder('moved'), limit: 1 })}) AS newest ON true
LEFT JOIN LATERAL (
  SELECT changed.block_number FROM (${tokenMoves({ ...changes, limit: 1 })}) AS changed
  WHERE newest.from_address = newest.to_address LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_array(encode(ranked.account, 'hex'), ranked.amount::text, ranked.last_block) ORDER BY ranked.receipt) AS accounts,
    max(ranked.moves) AS moves
  FROM (
    SELECT known.*, row_number() OVER (ORDER BY known.received_at DESC NULLS LAST, known.changed_at DESC) AS receipt,
      row_number() OVER (ORDER BY known.amount > 0 DESC, known.received_at DESC NULLS LAST, known.changed_at DESC) AS place
    FROM (
      SELECT side.account, sum(side.delta) AS amount, max(moved.block_number) AS last_block, max(moved.moves) AS moves, max(moved.at) AS changed_at,
        max(moved.at) FILTER (WHERE side.delta > 0) AS received_at
      FROM (
        SELECT changed.*, count(*) OVER () AS moves, row_number() OVER (ORDER BY ${placeOrder('changed', 'ASC')}) AS at
        FROM (${tokenMoves({ ...changes, limit: ADDED_UP_MAX + 1 })}) AS changed WHERE newest.kind IN (${several})
      ) AS moved
      CROSS JOIN LATERAL (VALUES (moved.to_address, moved.amount), (moved.from_address, -moved.amount)) AS side(account, delta)
      WHERE side.account <> ${NOBODY}
      GROUP BY side.account
    ) AS known
  ) AS ranked WHERE ranked.place = 1 OR ranked.receipt <= ${rawSql(ACCOUNTS_MAX)}
) AS summed ON true
LEFT JOIN LATERAL (${hasRanges ? rangedMint(chainId, isSpread) : NO_RANGE}) AS ranged ON true
ORDER BY requested.place`;
}

function rangedMint(chainId: Sql, isSpread: boolean): Sql {
  const place = rawSql(isSpread ? 'AND moved.collection_key = address_key(requested.token_address)' : '');
  return sql`SELECT moved.to_address, moved.block_number FROM nft_transfers AS moved
  WHERE before.block_number IS NULL AND coalesce(newest.from_address = newest.to_address, true) AND address_key(moved.token_address) = address_key(requested.token_address) AND moved.chain_id = ${chainId} ${place}
    AND moved.last_token_id IS NOT NULL AND ${expectedTrue(sql`moved.token_address = requested.token_address`)}
    AND ${expectedTrue(sql`requested.token_id BETWEEN moved.token_id AND moved.last_token_id`)}
  ORDER BY ${placeOrder('moved', 'DESC')} LIMIT 1`;
}
const NO_RANGE = sql`SELECT NULL::bytea AS to_address, NULL::integer AS block_number`;

const COLUMNS = [...PLACE, 'kind', 'from_address', 'to_address', 'amount'];
export const BATCHABLE: readonly number[] = [NFT_TRANSFER_KINDS.erc1155Single, NFT_TRANSFER_KINDS.erc1155Batch];
