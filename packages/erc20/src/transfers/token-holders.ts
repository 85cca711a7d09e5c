import { type Address, type ChainId, ZERO_ADDRESS } from '@chainstead/core';
import type { KeptState } from '@chainstead/sync';
import { MOVED_TABLES } from '../moved-tables.ts';
import { AIRDROP_ABOVE, classInSql } from './holder-classes.ts';

/**
 * Who holds a token that somebody asked about: what its transfers add up to by account, in all and above the block at which the contract itself was
 * asked, and how many accounts began and ceased to hold it in each minute (docs/balances.md). What is wrapped and unwrapped of a chain's coin counts
 * as transfers from and to the zero address.
 *
 * Sums don't ask in which order transfers came. Who begins to hold a token when depends on all transfers before: minutes are told where
 * transfers come above all others, block by block, and go from the top. Any other change leaves them as they are, and `is_exact` says so: they
 * are counted anew once the token's history is whole.
 */
export const erc20TokenHolders: KeptState = {
  name: 'erc20-token-holders',
  version: 2,
  tables: [
    { name: 'erc20_holders', subject: 'token' },
    { name: 'erc20_holder_counts', subject: 'token' },
    { name: 'erc20_holder_minutes', subject: 'token' },
  ],
  counts: MOVED_TABLES,
  rowsOf: (token) => [`token_key(token) = token_key(${token}) AND token = ${token} AND direction <> 1`],
  indexes: ['erc20_transfers_by_contract', 'erc20_transfers_by_token', 'wrapped_coin_moves_by_contract'],
  added: (rows, kept) => [
    countMinutes(rows, kept, { sign: '+', ordered: IS_ABOVE }),
    countTokens(rows, kept, { sign: '+', exact: IS_ABOVE }),
    changeHolders(rows, kept, '+'),
  ],
  removed: (rows, kept, counted) => {
    const isTop = isFromTop(counted);
    return [
      countTokens(rows, kept, { sign: '-', exact: isTop }),
      changeHolders(rows, kept, '-'),
      countMinutes(rows, kept, { sign: '-', ordered: isTop }),
      forgetEmptyMinutes(rows, kept),
      findTops(rows, kept, counted),
      findFirstReceipts(rows, kept, counted),
      forgetUnmoved(rows, kept),
    ];
  },
  rolledBack: (chainId, ancestor) => [forgetUnknown(chainId, ancestor), forgetAnchors(chainId, ancestor)],
};

/** Of a token with the lowest changed block as `lowest`, and its counts as `known`: all that came is above what was there. */
const IS_ABOVE = 'coalesce(known.top_block < lowest, true)';

/** The same of what went: nothing is left that is as high. */
function isFromTop(counted: string): string {
  return `NOT EXISTS (SELECT FROM ${counted} AS left_over WHERE token_key(left_over.token) = token_key(changed.token)
    AND left_over.token = changed.token AND left_over.chain_id = changed.chain_id AND left_over.direction <> 1
    AND left_over.block_number >= lowest AND left_over.block_number <= built_to)`;
}

interface MinutesChange {
  readonly sign: '+' | '-';
  /** Whether the minutes of a token follow the change: {@link IS_ABOVE} or {@link isFromTop}. */
  readonly ordered: string;
}

/**
 * Who began and ceased to hold what, block by block: what an account had before a block is the sum of all other rows, since none is above those
 * that came or went. So what went is undone exactly.
 */
function countMinutes(rows: string, kept: string, { sign, ordered }: MinutesChange): string {
  const counts = {
    came: 'after > 0',
    gone: 'after <= 0',
    airdropped: `after > 0 AND of_transaction > ${AIRDROP_ABOVE}`,
    swapped: 'false',
  };
  const names = Object.keys(counts).join(', ');
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, followed AS MATERIALIZED (
  SELECT changed.* FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN erc20_holder_counts AS known USING (token, chain_id) WHERE ${ordered}
), steps AS (
  SELECT token, chain_id, account, block_number, sum(delta) AS delta, min(transaction_index) FILTER (WHERE delta > 0) AS transaction_index
  FROM ${SIDES} AS side JOIN followed USING (token, chain_id) GROUP BY token, chain_id, account, block_number
), paths AS (
  SELECT steps.*, coalesce(held.total, 0) + sum(steps.delta)
    OVER (PARTITION BY token, chain_id, account ORDER BY block_number) AS after
  FROM steps LEFT JOIN erc20_holders AS held USING (token, chain_id, account)
), supplies AS MATERIALIZED (
  SELECT token, chain_id, block_number, coalesce(known.supply, 0) + sum(minted)
    OVER (PARTITION BY token, chain_id ORDER BY block_number) AS supply
  FROM (SELECT token, chain_id, block_number, sum(moved.minted) AS minted FROM moved JOIN followed USING (token, chain_id)
    GROUP BY token, chain_id, block_number) AS made LEFT JOIN erc20_holder_counts AS known USING (token, chain_id)
), crossings AS (
  SELECT token, chain_id, date_trunc('minute', blocks.block_timestamp, 'UTC') AS minute, after,
    ${classInSql('greatest(after, after - delta)', 'supply')} AS class, beside.transfers AS of_transaction
  FROM paths JOIN supplies USING (token, chain_id, block_number) JOIN blocks USING (chain_id, block_number)
    LEFT JOIN ${TRANSACTIONS} AS beside USING (token, chain_id, block_number, transaction_index)
  WHERE (after > 0) <> (after - delta > 0)
)
INSERT INTO erc20_holder_minutes AS kept (token, chain_id, minute, class, ${names})
SELECT token, chain_id, minute, class, ${Object.values(counts)
    .map((condition) => `${sign}count(*) FILTER (WHERE ${condition})`)
    .join(', ')}
FROM crossings GROUP BY token, chain_id, minute, class ORDER BY token, chain_id, minute, class
ON CONFLICT (token, chain_id, minute, class) DO UPDATE SET ${Object.keys(counts)
    .map((name) => `${name} = kept.${name} + excluded.${name}`)
    .join(', ')}`;
}

/** How many transfers a token has, what of it was made, and how many accounts have some: before its holders change. */
function countTokens(
  rows: string,
  kept: string,
  { sign, exact }: { readonly sign: '+' | '-'; readonly exact: string },
): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, crossed AS (
  SELECT token, chain_id, sum((coalesce(held.total, 0) ${sign} delta > 0)::int - (coalesce(held.total, 0) > 0)::int) AS holders
  FROM (SELECT token, chain_id, account, sum(delta) AS delta FROM ${SIDES} AS side GROUP BY token, chain_id, account) AS changes
    LEFT JOIN erc20_holders AS held USING (token, chain_id, account)
  GROUP BY token, chain_id
)
INSERT INTO erc20_holder_counts AS kept (token, chain_id, transfers, supply, holders, top_block, is_exact)
SELECT token, chain_id, ${sign}changed.transfers, ${sign}changed.minted, coalesce(crossed.holders, 0), highest,
  coalesce(known.is_exact, true) AND ${exact}
FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN crossed USING (token, chain_id)
  LEFT JOIN erc20_holder_counts AS known USING (token, chain_id)
ORDER BY token, chain_id
ON CONFLICT (token, chain_id) DO UPDATE SET transfers = kept.transfers + excluded.transfers, supply = kept.supply + excluded.supply,
  holders = kept.holders + excluded.holders, is_exact = excluded.is_exact,
  top_block = greatest(kept.top_block, excluded.top_block)`;
}

/** One statement for all rows: commits of a chain never run side by side, so the anchors that it reads are those that it counts from. */
function changeHolders(rows: string, kept: string, sign: '+' | '-'): string {
  const first = (place: string): string => `(${place}.first_block, ${place}.first_transaction)`;
  const earlier = (column: string): string =>
    `${column} = CASE WHEN held.first_block IS NULL OR ${first('excluded')} < ${first('held')} THEN excluded.${column} ELSE held.${column} END`;
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
INSERT INTO erc20_holders AS held (token, chain_id, account, total, since, moves, first_block, first_transaction, acquired)
SELECT token, chain_id, account, ${sign}total, ${sign}since, ${sign}moves, received[1], received[2],
  (beside.transfers > ${AIRDROP_ABOVE})::int
FROM (
  SELECT token, chain_id, account, sum(delta) AS total, count(*) AS moves,
    coalesce(sum(delta) FILTER (WHERE block_number > anchored.anchor_block), 0) AS since,
    min(ARRAY[block_number, transaction_index]) FILTER (WHERE delta > 0) AS received
  FROM ${SIDES} AS side LEFT JOIN erc20_holders AS anchored USING (token, chain_id, account) GROUP BY token, chain_id, account
) AS changes
  LEFT JOIN (SELECT token, chain_id, ARRAY[block_number, transaction_index] AS received, transfers FROM ${TRANSACTIONS} AS made) AS beside
    USING (token, chain_id, received)
ORDER BY token, chain_id, account
ON CONFLICT (token, chain_id, account) DO UPDATE SET total = held.total + excluded.total, since = held.since + excluded.since,
  moves = held.moves + excluded.moves${sign === '+' ? `, ${['first_block', 'first_transaction', 'acquired'].map(earlier).join(', ')}` : ''}`;
}

/** Minutes in which nobody is left that came or went; all of a token without transfers. */
function forgetEmptyMinutes(rows: string, kept: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
DELETE FROM erc20_holder_minutes AS kept
USING (SELECT token, chain_id, date_trunc('minute', block_timestamp, 'UTC') AS minute, known.transfers = 0 AS is_empty
  FROM (${TOKENS_CHANGED}) AS changed JOIN erc20_holder_counts AS known USING (token, chain_id)
    JOIN blocks USING (chain_id) WHERE blocks.block_number = lowest) AS from_here
WHERE kept.token = from_here.token AND kept.chain_id = from_here.chain_id
  AND (is_empty OR kept.minute >= from_here.minute AND kept.came = 0 AND kept.gone = 0)`;
}

/** The newest block of each token that lost rows; a token without transfers has no counts. */
function findTops(rows: string, kept: string, counted: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, emptied AS (
  DELETE FROM erc20_holder_counts AS kept USING (${TOKENS_CHANGED}) AS changed
  WHERE kept.token = changed.token AND kept.chain_id = changed.chain_id AND kept.transfers = 0
)
UPDATE erc20_holder_counts AS kept SET top_block = coalesce((
    SELECT block_number FROM ${counted} AS left_over WHERE token_key(left_over.token) = token_key(changed.token)
      AND left_over.token = changed.token AND left_over.chain_id = changed.chain_id AND left_over.direction <> 1
      AND left_over.block_number <= built_to
    ORDER BY block_number DESC LIMIT 1), ${NONE})
FROM (${TOKENS_CHANGED}) AS changed
WHERE kept.token = changed.token AND kept.chain_id = changed.chain_id AND kept.transfers > 0`;
}

/** The first receipt of each account that lost it, from the rows that are left. */
function findFirstReceipts(rows: string, kept: string, counted: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
UPDATE erc20_holders AS held SET first_block = found.block_number, first_transaction = found.transaction_index, acquired = found.acquired
FROM (SELECT token, chain_id, account, built_to, min(block_number) AS lowest FROM ${SIDES} AS side WHERE delta > 0
    GROUP BY token, chain_id, account, built_to) AS touched
  LEFT JOIN LATERAL (
    SELECT receipt.block_number, receipt.transaction_index, (${transfersBeside('receipt', counted)} > ${AIRDROP_ABOVE})::int AS acquired
    FROM ${counted} AS receipt
    WHERE receipt.account_key = address_key(touched.account) AND token_key(receipt.token) = token_key(touched.token)
      AND receipt.chain_id = touched.chain_id AND receipt.account = touched.account AND receipt.token = touched.token
      AND receipt.direction = 1 AND receipt.value > 0 AND receipt.block_number <= touched.built_to
    ORDER BY receipt.block_number, receipt.transaction_index, receipt.log_index LIMIT 1
  ) AS found ON true
WHERE (held.token, held.chain_id, held.account) = (touched.token, touched.chain_id, touched.account) AND held.first_block >= touched.lowest`;
}

/** Transfers of its token in the transaction of a row. */
function transfersBeside(row: string, counted: string): string {
  return `(SELECT count(*) FROM (SELECT FROM ${counted} AS beside WHERE token_key(beside.token) = token_key(${row}.token)
      AND beside.token = ${row}.token AND beside.chain_id = ${row}.chain_id AND beside.direction <> 1
      AND beside.block_number = ${row}.block_number AND beside.transaction_index = ${row}.transaction_index
    LIMIT ${AIRDROP_ABOVE + 1}) AS found)`;
}

/** Accounts of which nothing is left, and nothing else is known. */
function forgetUnmoved(rows: string, kept: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
DELETE FROM erc20_holders AS held USING (SELECT DISTINCT token, chain_id, account FROM ${SIDES} AS side) AS touched
WHERE (held.token, held.chain_id, held.account) = (touched.token, touched.chain_id, touched.account)
  AND held.moves = 0 AND held.anchor_block IS NULL`;
}

/** Accounts of which something is known only from a block that is gone. */
function forgetUnknown(chainId: ChainId, ancestor: number): string {
  return `DELETE FROM erc20_holders WHERE chain_id = ${chainId} AND anchor_block > ${ancestor} AND moves = 0`;
}

/** What a contract said at a block that is gone. */
function forgetAnchors(chainId: ChainId, ancestor: number): string {
  return `UPDATE erc20_holders SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL
WHERE chain_id = ${chainId} AND anchor_block > ${ancestor}`;
}

/** The transfers of kept tokens among rows, each once: its sender's row, or the one of both sides. Stands in a `WITH` as `moved`. */
function movesOf(rows: string, kept: string): string {
  return `(
  SELECT changed_row.token, changed_row.chain_id, changed_row.block_number, changed_row.transaction_index, changed_row.log_index,
    changed_row.account AS sender, changed_row.counterparty AS recipient, changed_row.value, kept.built_to,
    CASE WHEN changed_row.direction = 2 THEN 0 WHEN changed_row.account = ${NOBODY} THEN changed_row.value
      WHEN changed_row.counterparty = ${NOBODY} THEN -changed_row.value ELSE 0 END AS minted
  FROM ${rows} AS changed_row JOIN ${kept} AS kept ON kept.subject = changed_row.token AND changed_row.block_number <= kept.built_to
  WHERE changed_row.direction <> 1
)`;
}

/** What transfers change for both sides; one to itself and one of nothing change nothing. */
const NOBODY = bytesOf(ZERO_ADDRESS);
const SIDES = `(SELECT moved.token, moved.chain_id, moved.block_number, moved.transaction_index, moved.built_to, side.account, side.delta
    FROM moved CROSS JOIN LATERAL (VALUES (moved.recipient, moved.value), (moved.sender, -moved.value)) AS side(account, delta)
    WHERE moved.sender <> moved.recipient AND moved.value > 0 AND side.account <> ${NOBODY})`;

const TRANSACTIONS = `(SELECT token, chain_id, block_number, transaction_index, count(*) AS transfers FROM moved
    GROUP BY token, chain_id, block_number, transaction_index)`;

const TOKENS_CHANGED = `SELECT token, chain_id, built_to, min(block_number) AS lowest, max(block_number) AS highest,
    count(*) AS transfers, sum(minted) AS minted FROM moved GROUP BY token, chain_id, built_to`;

function bytesOf(address: Address): string {
  return `'\\x${address.slice(2)}'::bytea`;
}

/** Instead of a block, where no transfer is known. */
const NONE = -1;
