import { type Address, type ChainId, ZERO_ADDRESS } from '@chainstead/core';
import { columnsOf, defineLookUp, IN_PLACE, type Reading, type SubjectState } from '@chainstead/sync';
import { MOVED_TABLES, withAccount } from '../moved-tables.ts';
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
export const erc20TokenHolders: SubjectState = {
  name: 'erc20-token-holders',
  version: 2,
  tables: ['erc20_holders', 'erc20_holder_counts', 'erc20_holder_minutes'],
  counts: MOVED_TABLES,
  subjects: {
    column: 'token',
    rowsOf: (token) => [`token_key(token) = token_key(${token}) AND token = ${token} AND direction <> 1`],
    indexes: ['erc20_transfers_by_contract', 'erc20_transfers_by_token', 'wrapped_coin_moves_by_contract'],
  },
  added: (rows, kept, reading = IN_PLACE) => [
    countMinutes(rows, kept, { sign: '+', ordered: IS_ABOVE }, reading),
    countTokens(rows, kept, { sign: '+', exact: IS_ABOVE }, reading),
    changeHolders(rows, kept, '+', reading),
  ],
  removed: (rows, kept, counted, reading = IN_PLACE) => {
    const isTop = isFromTop(rows, kept, counted, reading);
    return [
      countTokens(rows, kept, { sign: '-', exact: isTop }, reading),
      changeHolders(rows, kept, '-', reading),
      countMinutes(rows, kept, { sign: '-', ordered: isTop }, reading),
      forgetEmptyMinutes(rows, kept, reading),
      forgetEmptied(rows, kept),
      findTops(rows, kept, counted, reading),
      findFirstReceipts(rows, kept, counted, reading),
      forgetUnmoved(rows, kept),
    ];
  },
  rolledBack: (chainId, ancestor) => [forgetUnknown(chainId, ancestor), forgetAnchors(chainId, ancestor)],
};

/** Of a token with the lowest changed block as `lowest`, and its counts as `known`: all that came is above what was there. */
const IS_ABOVE = 'coalesce(known.top_block < lowest, true)';

/** The same of what went: nothing is left that is as high. */
function isFromTop(rows: string, kept: string, counted: string, reading: Reading): string {
  const high = defineLookUp({
    name: 'transfers_as_high',
    by: { token: 'bytea', chain_id: 'bigint', lowest: 'integer', built_to: 'bigint' },
    wanted: changedTokens(rows, kept, 'token, chain_id, lowest, built_to'),
    found: { is_left: 'boolean' },
    find: (
      at,
    ) => `SELECT true AS is_left FROM ${counted} AS left_over WHERE token_key(left_over.token) = token_key(${at.token})
    AND left_over.token = ${at.token} AND left_over.chain_id = ${at.chain_id} AND left_over.direction <> 1
    AND left_over.block_number >= ${at.lowest} AND left_over.block_number <= ${at.built_to} LIMIT 1`,
  });
  return `NOT EXISTS (${reading.lookUp(high, columnsOf('changed', high))})`;
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
function countMinutes(rows: string, kept: string, { sign, ordered }: MinutesChange, reading: Reading): string {
  const [known, holders] = [storedCounts(rows, kept, reading), storedHolders(rows, kept, reading)];
  const counts = {
    came: 'after > 0',
    gone: 'after <= 0',
    airdropped: `after > 0 AND of_transaction > ${AIRDROP_ABOVE}`,
    swapped: 'false',
  };
  const names = Object.keys(counts).join(', ');
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, followed AS MATERIALIZED (
  SELECT changed.* FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN ${known} AS known USING (token, chain_id) WHERE ${ordered}
), steps AS (
  SELECT token, chain_id, account, block_number, sum(delta) AS delta, min(transaction_index) FILTER (WHERE delta > 0) AS transaction_index
  FROM ${SIDES} AS side JOIN followed USING (token, chain_id) GROUP BY token, chain_id, account, block_number
), paths AS (
  SELECT steps.*, coalesce(held.total, 0) + sum(steps.delta)
    OVER (PARTITION BY token, chain_id, account ORDER BY block_number) AS after
  FROM steps LEFT JOIN ${holders} AS held USING (token, chain_id, account)
), supplies AS MATERIALIZED (
  SELECT token, chain_id, block_number, coalesce(known.supply, 0) + sum(minted)
    OVER (PARTITION BY token, chain_id ORDER BY block_number) AS supply
  FROM (SELECT token, chain_id, block_number, sum(moved.minted) AS minted FROM moved JOIN followed USING (token, chain_id)
    GROUP BY token, chain_id, block_number) AS made LEFT JOIN ${known} AS known USING (token, chain_id)
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
  reading: Reading,
): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, crossed AS (
  SELECT token, chain_id, sum((coalesce(held.total, 0) ${sign} delta > 0)::int - (coalesce(held.total, 0) > 0)::int) AS holders
  FROM (SELECT token, chain_id, account, sum(delta) AS delta FROM ${SIDES} AS side GROUP BY token, chain_id, account) AS changes
    LEFT JOIN ${storedHolders(rows, kept, reading)} AS held USING (token, chain_id, account)
  GROUP BY token, chain_id
)
INSERT INTO erc20_holder_counts AS kept (token, chain_id, transfers, supply, holders, top_block, is_exact)
SELECT token, chain_id, ${sign}changed.transfers, ${sign}changed.minted, coalesce(crossed.holders, 0), highest,
  coalesce(known.is_exact, true) AND ${exact}
FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN crossed USING (token, chain_id)
  LEFT JOIN ${storedCounts(rows, kept, reading)} AS known USING (token, chain_id)
ORDER BY token, chain_id
ON CONFLICT (token, chain_id) DO UPDATE SET transfers = kept.transfers + excluded.transfers, supply = kept.supply + excluded.supply,
  holders = kept.holders + excluded.holders, is_exact = excluded.is_exact,
  top_block = greatest(kept.top_block, excluded.top_block)`;
}

/** One statement for all rows: commits of a chain never run side by side, so the anchors that it reads are those that it counts from. */
function changeHolders(rows: string, kept: string, sign: '+' | '-', reading: Reading): string {
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
  FROM ${SIDES} AS side LEFT JOIN ${storedHolders(rows, kept, reading)} AS anchored USING (token, chain_id, account) GROUP BY token, chain_id, account
) AS changes
  LEFT JOIN (SELECT token, chain_id, ARRAY[block_number, transaction_index] AS received, transfers FROM ${TRANSACTIONS} AS made) AS beside
    USING (token, chain_id, received)
ORDER BY token, chain_id, account
ON CONFLICT (token, chain_id, account) DO UPDATE SET total = held.total + excluded.total, since = held.since + excluded.since,
  moves = held.moves + excluded.moves${sign === '+' ? `, ${['first_block', 'first_transaction', 'acquired'].map(earlier).join(', ')}` : ''}`;
}

/** Minutes in which nobody is left that came or went; all of a token without transfers. */
function forgetEmptyMinutes(rows: string, kept: string, reading: Reading): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}, from_here AS MATERIALIZED (
  SELECT token, chain_id, date_trunc('minute', block_timestamp, 'UTC') AS minute, known.transfers = 0 AS is_empty
  FROM (${TOKENS_CHANGED}) AS changed JOIN ${storedCounts(rows, kept, reading)} AS known USING (token, chain_id)
    JOIN blocks USING (chain_id) WHERE blocks.block_number = lowest
)
DELETE FROM erc20_holder_minutes AS kept USING from_here
WHERE kept.token = from_here.token AND kept.chain_id = from_here.chain_id
  AND (is_empty OR kept.minute >= from_here.minute AND kept.came = 0 AND kept.gone = 0)`;
}

/** A token without transfers has no counts. */
function forgetEmptied(rows: string, kept: string): string {
  return `WITH changed AS MATERIALIZED (${changedTokens(rows, kept, 'token, chain_id')})
DELETE FROM erc20_holder_counts AS kept USING changed
WHERE kept.token = changed.token AND kept.chain_id = changed.chain_id AND kept.transfers = 0`;
}

/** The newest block of each token that lost rows. */
function findTops(rows: string, kept: string, counted: string, reading: Reading): string {
  const changed = changedTokens(rows, kept, 'token, chain_id, built_to');
  const top = defineLookUp({
    name: 'top_blocks',
    by: { token: 'bytea', chain_id: 'bigint', built_to: 'bigint' },
    wanted: changed,
    found: { block_number: 'integer' },
    find: (
      at,
    ) => `SELECT block_number FROM ${counted} AS left_over WHERE token_key(left_over.token) = token_key(${at.token})
      AND left_over.token = ${at.token} AND left_over.chain_id = ${at.chain_id} AND left_over.direction <> 1
      AND left_over.block_number <= ${at.built_to}
    ORDER BY block_number DESC LIMIT 1`,
  });
  return `WITH tops AS MATERIALIZED (
  SELECT changed.token, changed.chain_id, coalesce((${reading.lookUp(top, columnsOf('changed', top))}), ${NONE}) AS top_block
  FROM (${changed}) AS changed
)
UPDATE erc20_holder_counts AS kept SET top_block = tops.top_block FROM tops
WHERE kept.token = tops.token AND kept.chain_id = tops.chain_id AND kept.transfers > 0`;
}

/** The first receipt of each account that lost it, from the rows that are left. */
function findFirstReceipts(rows: string, kept: string, counted: string, reading: Reading): string {
  const touched = `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
    SELECT token, chain_id, account, built_to, min(block_number) AS lowest FROM ${SIDES} AS side WHERE delta > 0
    GROUP BY token, chain_id, account, built_to`;
  const first = defineLookUp({
    name: 'first_receipts',
    by: { token: 'bytea', chain_id: 'bigint', account: 'bytea', built_to: 'bigint' },
    wanted: touched,
    found: { block_number: 'integer', transaction_index: 'integer' },
    place: withAccount('account'),
    find: (at, isThere) => `SELECT receipt.block_number, receipt.transaction_index FROM ${counted} AS receipt
    WHERE ${isThere('receipt.account_key')} AND token_key(receipt.token) = token_key(${at.token})
      AND receipt.chain_id = ${at.chain_id} AND receipt.account = ${at.account} AND receipt.token = ${at.token}
      AND receipt.direction = 1 AND receipt.value > 0 AND receipt.block_number <= ${at.built_to}
    ORDER BY receipt.block_number, receipt.transaction_index, receipt.log_index LIMIT 1`,
  });
  const receipt = reading.lookUp(first, columnsOf('touched', first));
  const beside = defineLookUp({
    name: 'transfers_beside',
    by: { token: 'bytea', chain_id: 'bigint', block_number: 'integer', transaction_index: 'integer' },
    wanted: `SELECT touched.token, touched.chain_id, receipt.* FROM (${touched}) AS touched CROSS JOIN LATERAL (${receipt}) AS receipt`,
    found: { transfers: 'bigint' },
    // Transfers of its token in the transaction.
    find: (
      at,
    ) => `SELECT count(*) AS transfers FROM (SELECT 1 FROM ${counted} AS beside WHERE token_key(beside.token) = token_key(${at.token})
      AND beside.token = ${at.token} AND beside.chain_id = ${at.chain_id} AND beside.direction <> 1
      AND beside.block_number = ${at.block_number} AND beside.transaction_index = ${at.transaction_index}
    LIMIT ${AIRDROP_ABOVE + 1}) AS found`,
    findAll: (
      asked,
    ) => `SELECT ${asked}.token, ${asked}.chain_id, ${asked}.block_number, ${asked}.transaction_index, count(*) AS transfers
      FROM ${asked} JOIN ${counted} AS beside ON token_key(beside.token) = token_key(${asked}.token) AND beside.token = ${asked}.token
        AND beside.chain_id = ${asked}.chain_id AND beside.direction <> 1
        AND beside.block_number = ${asked}.block_number AND beside.transaction_index = ${asked}.transaction_index
      GROUP BY ${asked}.token, ${asked}.chain_id, ${asked}.block_number, ${asked}.transaction_index`,
  });
  const at = {
    ...columnsOf('touched', beside),
    block_number: 'receipt.block_number',
    transaction_index: 'receipt.transaction_index',
  };
  return `WITH found AS MATERIALIZED (
  SELECT touched.token, touched.chain_id, touched.account, touched.lowest, receipt.block_number, receipt.transaction_index, beside.transfers
  FROM (${touched}) AS touched LEFT JOIN LATERAL (${receipt}) AS receipt ON true
    LEFT JOIN LATERAL (${reading.lookUp(beside, at)}) AS beside ON receipt.block_number IS NOT NULL
)
UPDATE erc20_holders AS held SET first_block = found.block_number, first_transaction = found.transaction_index,
  acquired = CASE WHEN found.block_number IS NOT NULL THEN (coalesce(found.transfers, 0) > ${AIRDROP_ABOVE})::int END
FROM found
WHERE (held.token, held.chain_id, held.account) = (found.token, found.chain_id, found.account) AND held.first_block >= found.lowest`;
}

/** Accounts of which nothing is left, and nothing else is known. */
function forgetUnmoved(rows: string, kept: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)}
DELETE FROM erc20_holders AS held USING (SELECT DISTINCT token, chain_id, account FROM ${SIDES} AS side) AS touched
WHERE (held.token, held.chain_id, held.account) = (touched.token, touched.chain_id, touched.account)
  AND held.moves = 0 AND held.anchor_block IS NULL`;
}

function storedCounts(rows: string, kept: string, reading: Reading): string {
  const wanted = changedTokens(rows, kept, 'token, chain_id');
  return reading.stored({ table: 'erc20_holder_counts', key: ['token', 'chain_id'], wanted });
}

function storedHolders(rows: string, kept: string, reading: Reading): string {
  const key = ['token', 'chain_id', 'account'];
  const wanted = `WITH moved AS MATERIALIZED ${movesOf(rows, kept)} SELECT DISTINCT ${key.join(', ')} FROM ${SIDES} AS side`;
  return reading.stored({ table: 'erc20_holders', key, wanted });
}

/** Some of {@link TOKENS_CHANGED}, as a query of its own. */
function changedTokens(rows: string, kept: string, columns: string): string {
  return `WITH moved AS MATERIALIZED ${movesOf(rows, kept)} SELECT ${columns} FROM (${TOKENS_CHANGED}) AS changed`;
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
