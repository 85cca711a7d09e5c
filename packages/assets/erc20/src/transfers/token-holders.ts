import {
  asSql,
  type ColumnOf,
  columnList,
  deleteByKey,
  hasSameKey,
  joinSql,
  namesOf,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { IS_GIVING_SIDE } from '@chainstead/db/column-types';
import {
  defineSqlLookup,
  keyOfLookup,
  type RemovedRows,
  type RowsChange,
  type SubjectProjection,
} from '@chainstead/sync/datasets';
import { inShardOfAccount, MOVED_TABLES } from '../moved-tables.ts';
import { forgetAnchorsAbove } from './anchors.ts';
import { erc20HolderCounts, erc20HolderMinutes, erc20Holders } from './schema.ts';
import {
  changedHolders,
  changedTokens,
  HOLDER,
  HOLDER_LIST,
  isOfToken,
  movesOf,
  other,
  RECEIVED,
  SIDES,
  TOKEN,
  TOKEN_LIST,
  TOKENS_CHANGED,
  TRANSACTIONS,
} from './token-moves.ts';

/**
 * Sums by account (docs/concepts/balances.md), and holders that came and went by minute. Wrapping
 * counts as a mint. Minutes depend on order: they follow only if transfers are added above all
 * others and removed from the top. Any other change clears `is_exact`: they are rebuilt once the
 * token's blocks are complete.
 */
export const erc20TokenHolders: SubjectProjection = {
  name: 'erc20-token-holders',
  version: 2,
  tables: [erc20Holders, erc20HolderCounts, erc20HolderMinutes],
  sources: MOVED_TABLES,
  subjects: {
    column: 'token',
    rowsOf: (token) => [
      sql`token_key(token) = token_key(${token}) AND token = ${token} AND ${asSql(IS_GIVING_SIDE)}`,
    ],
    indexes: [
      'erc20_transfer_sides_by_contract',
      'erc20_transfer_sides_by_token',
      'wrapped_coin_moves_by_contract',
    ],
  },
  added: (change) => [
    countMinutes(change, PLUS, IS_ABOVE),
    countTokens(change, PLUS, IS_ABOVE),
    changeHolders(change, PLUS),
  ],
  removed: (change) => {
    const isTop = isFromTop(change);
    return [
      countTokens(change, MINUS, isTop),
      changeHolders(change, MINUS),
      countMinutes(change, MINUS, isTop),
      deleteEmptyMinutes(change),
      deleteByKey(erc20HolderCounts, TOKEN, changedTokens(change, TOKEN_LIST), sql`stored.transfers = 0`),
      updateTops(change),
      updateFirstReceipts(change),
      deleteByKey(
        erc20Holders,
        HOLDER,
        changedHolders(change),
        sql`stored.moves = 0 AND stored.anchor_block IS NULL`,
      ),
    ];
  },
  rolledBack: forgetAnchorsAbove('erc20_holders', sql`moves = 0`),
};

const PLUS = rawSql('+');
const MINUS = rawSql('-');
const NONE = rawSql('-1');

const MINUTE: readonly ColumnOf<typeof erc20HolderMinutes>[] = ['token', 'chainId', 'minute', 'class'];
const MINUTE_LIST = columnList(erc20HolderMinutes, MINUTE);

/** All added transfers are above the stored ones. */
const IS_ABOVE = rawSql('coalesce(known.top_block < lowest, true)');

/** No transfer that remains is as high as a removed one. */
function isFromTop(change: RemovedRows): Sql {
  const high = defineSqlLookup({
    name: 'transfers_as_high',
    by: { token: 'bytea', chain_id: 'bigint', lowest: 'integer', built_to: 'bigint' },
    wanted: changedTokens(change, rawSql('token, chain_id, lowest, built_to')),
    found: { is_left: 'boolean' },
    find: (at) => sql`SELECT true AS is_left FROM ${change.remaining} AS other_row WHERE ${isOfToken(at)}
    AND ${other.blockNumber} >= ${at.lowest} AND ${other.blockNumber} <= ${at.built_to} LIMIT 1`,
  });
  return sql`NOT EXISTS (${change.access.lookup(high, keyOfLookup('changed', high))})`;
}

/**
 * An account's earlier balance is the sum of all other rows: none is above the changed ones.
 * @param isOrdered whether the minutes of a token follow the change
 */
function countMinutes(change: RowsChange, sign: Sql, isOrdered: Sql): Sql {
  const counts = {
    came: sql`after > 0`,
    gone: sql`after <= 0`,
    airdropped: sql`after > 0 AND of_transaction > ${AIRDROP_ABOVE}`,
    swapped: sql`false`,
  } satisfies Partial<Record<ColumnOf<typeof erc20HolderMinutes>, Sql>>;
  const names = Object.keys(counts);
  const values = Object.values(counts).map((condition) => sql`${sign}count(*) FILTER (WHERE ${condition})`);
  // One relation: without statistics, a second one joined by block would be read once per block of the token.
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)}, followed AS MATERIALIZED (
  SELECT changed.token, changed.chain_id, coalesce(known.supply, 0) AS supply
  FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN ${storedCounts(change)} AS known USING (${TOKEN_LIST}) WHERE ${isOrdered}
), steps AS (
  SELECT ${HOLDER_LIST}, block_number, supply, sum(delta) AS delta, min(transaction_index) FILTER (WHERE delta > 0) AS transaction_index
  FROM ${SIDES} AS side JOIN followed USING (${TOKEN_LIST}) GROUP BY ${HOLDER_LIST}, block_number, supply
), paths AS (
  SELECT steps.token, chain_id, block_number, delta, transaction_index,
    coalesce(stored.total, 0) + sum(delta) OVER (PARTITION BY ${HOLDER_LIST} ORDER BY block_number) AS after,
    supply + sum(delta) OVER (PARTITION BY token, chain_id ORDER BY block_number) AS supply
  FROM steps LEFT JOIN ${storedHolders(change)} AS stored USING (${HOLDER_LIST})
), crossings AS (
  SELECT token, chain_id, date_trunc('minute', blocks.block_timestamp, 'UTC') AS minute, after,
    ${classInSql(sql`greatest(after, after - delta)`, sql`supply`)} AS class, related.transfers AS of_transaction
  FROM paths JOIN blocks USING (chain_id, block_number)
    LEFT JOIN ${TRANSACTIONS} AS related USING (token, chain_id, block_number, transaction_index)
  WHERE (after > 0) <> (after - delta > 0)
)
INSERT INTO erc20_holder_minutes AS stored (${MINUTE_LIST}, ${rawSql(names.join(', '))})
SELECT ${MINUTE_LIST}, ${joinSql(values)}
FROM crossings GROUP BY ${MINUTE_LIST} ORDER BY ${MINUTE_LIST}
ON CONFLICT (${MINUTE_LIST}) DO UPDATE SET ${rawSql(names.map((name) => `${name} = stored.${name} + excluded.${name}`).join(', '))}`;
}

/** Must run before the holders of the token change. */
function countTokens(change: RowsChange, sign: Sql, isExact: Sql): Sql {
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)}, crossed AS (
  SELECT token, chain_id, sum((coalesce(stored.total, 0) ${sign} delta > 0)::int - (coalesce(stored.total, 0) > 0)::int) AS holders
  FROM (SELECT ${HOLDER_LIST}, sum(delta) AS delta FROM ${SIDES} AS side GROUP BY ${HOLDER_LIST}) AS changes
    LEFT JOIN ${storedHolders(change)} AS stored USING (${HOLDER_LIST})
  GROUP BY token, chain_id
)
INSERT INTO erc20_holder_counts AS stored (${columnList(erc20HolderCounts, [...TOKEN, 'transfers', 'supply', 'holders', 'topBlock', 'isExact'])})
SELECT token, chain_id, ${sign}changed.transfers, ${sign}changed.minted, coalesce(crossed.holders, 0), highest,
  coalesce(known.is_exact, true) AND ${isExact}
FROM (${TOKENS_CHANGED}) AS changed LEFT JOIN crossed USING (${TOKEN_LIST})
  LEFT JOIN ${storedCounts(change)} AS known USING (${TOKEN_LIST})
ORDER BY token, chain_id
ON CONFLICT (${TOKEN_LIST}) DO UPDATE SET transfers = stored.transfers + excluded.transfers, supply = stored.supply + excluded.supply,
  holders = stored.holders + excluded.holders, is_exact = excluded.is_exact,
  top_block = greatest(stored.top_block, excluded.top_block)`;
}

/** A chain's commits never run concurrently: one statement can read the anchors. */
function changeHolders(change: RowsChange, sign: Sql): Sql {
  const first = namesOf(erc20Holders, ['firstBlock', 'firstTransaction', 'acquired']).map((name) =>
    rawSql(`${name} = CASE WHEN stored.first_block IS NULL
      OR (excluded.first_block, excluded.first_transaction) < (stored.first_block, stored.first_transaction) THEN excluded.${name} ELSE stored.${name} END`),
  );
  const columns: readonly ColumnOf<typeof erc20Holders>[] = [
    'total',
    'since',
    'moves',
    'firstBlock',
    'firstTransaction',
    'acquired',
  ];
  // One relation, so that each row is found by its whole key, also without statistics.
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)}, side AS MATERIALIZED (SELECT * FROM ${SIDES} AS of_move)
INSERT INTO erc20_holders AS stored (${columnList(erc20Holders, [...HOLDER, ...columns])})
SELECT ${HOLDER_LIST}, ${sign}total, ${sign}since, ${sign}moves, received[1], received[2],
  (related.transfers > ${AIRDROP_ABOVE})::int
FROM (
  SELECT ${HOLDER_LIST}, sum(delta) AS total, count(*) AS moves,
    coalesce(sum(delta) FILTER (WHERE block_number > anchored.anchor_block), 0) AS since,
    min(ARRAY[block_number, transaction_index]) FILTER (WHERE delta > 0) AS received
  FROM side LEFT JOIN ${storedHolders(change)} AS anchored USING (${HOLDER_LIST}) GROUP BY ${HOLDER_LIST}
) AS changes
  LEFT JOIN (SELECT token, chain_id, ARRAY[block_number, transaction_index] AS received, transfers FROM ${TRANSACTIONS} AS made) AS related
    USING (token, chain_id, received)
ORDER BY ${HOLDER_LIST}
ON CONFLICT (${HOLDER_LIST}) DO UPDATE SET total = stored.total + excluded.total, since = stored.since + excluded.since,
  moves = stored.moves + excluded.moves${sign === PLUS ? sql`, ${joinSql(first)}` : rawSql('')}`;
}

function deleteEmptyMinutes(change: RemovedRows): Sql {
  return sql`WITH moved AS MATERIALIZED ${movesOf(change)}, from_here AS MATERIALIZED (
  SELECT token, chain_id, date_trunc('minute', block_timestamp, 'UTC') AS minute, known.transfers = 0 AS is_empty
  FROM (${TOKENS_CHANGED}) AS changed JOIN ${storedCounts(change)} AS known USING (${TOKEN_LIST})
    JOIN blocks USING (chain_id) WHERE blocks.block_number = lowest
)
DELETE FROM erc20_holder_minutes AS stored USING from_here
WHERE ${hasSameKey(erc20HolderMinutes, ['token', 'chainId'], 'stored', 'from_here')}
  AND (is_empty OR stored.minute >= from_here.minute AND stored.came = 0 AND stored.gone = 0)`;
}

function updateTops(change: RemovedRows): Sql {
  const tokens = changedTokens(change, rawSql('token, chain_id, built_to'));
  const top = defineSqlLookup({
    name: 'top_blocks',
    by: { token: 'bytea', chain_id: 'bigint', built_to: 'bigint' },
    wanted: tokens,
    found: { block_number: 'integer' },
    find: (at) => sql`SELECT block_number FROM ${change.remaining} AS other_row WHERE ${isOfToken(at)}
      AND ${other.blockNumber} <= ${at.built_to} ORDER BY block_number DESC LIMIT 1`,
  });
  return sql`WITH tops AS MATERIALIZED (
  SELECT changed.token, changed.chain_id, coalesce((${change.access.lookup(top, keyOfLookup('changed', top))}), ${NONE}) AS top_block
  FROM (${tokens}) AS changed
)
UPDATE erc20_holder_counts AS stored SET top_block = tops.top_block FROM tops
WHERE ${hasSameKey(erc20HolderCounts, TOKEN, 'stored', 'tops')} AND stored.transfers > 0`;
}

/** From the remaining rows, for each account that lost its first receipt. */
function updateFirstReceipts(change: RemovedRows): Sql {
  const touched = sql`WITH moved AS MATERIALIZED ${movesOf(change)}
    SELECT ${HOLDER_LIST}, built_to, min(block_number) AS lowest FROM ${SIDES} AS side WHERE delta > 0
    GROUP BY ${HOLDER_LIST}, built_to`;
  const first = defineSqlLookup({
    name: 'first_receipts',
    by: { token: 'bytea', chain_id: 'bigint', account: 'bytea', built_to: 'bigint' },
    wanted: touched,
    found: { block_number: 'integer', transaction_index: 'integer' },
    shard: inShardOfAccount('account'),
    find: (
      at,
      isInShard,
    ) => sql`SELECT ${other.blockNumber}, ${other.transactionIndex} FROM ${change.remaining} AS other_row
    WHERE ${isInShard('other_row')} AND token_key(${other.token}) = token_key(${at.token})
      AND ${other.chainId} = ${at.chain_id} AND ${other.account} = ${at.account} AND ${other.token} = ${at.token}
      AND ${other.direction} = ${RECEIVED} AND ${other.value} > 0 AND ${other.blockNumber} <= ${at.built_to}
    ORDER BY ${other.blockNumber}, ${other.transactionIndex}, ${other.logIndex} LIMIT 1`,
  });
  const receipt = change.access.lookup(first, keyOfLookup('touched', first));
  const ofTransaction = (
    at: Readonly<Record<'token' | 'chain_id' | 'block_number' | 'transaction_index', Sql>>,
  ): Sql =>
    sql`${isOfToken(at)} AND ${other.blockNumber} = ${at.block_number} AND ${other.transactionIndex} = ${at.transaction_index}`;
  const related = defineSqlLookup({
    name: 'related_transfers',
    by: { token: 'bytea', chain_id: 'bigint', block_number: 'integer', transaction_index: 'integer' },
    wanted: sql`SELECT touched.token, touched.chain_id, receipt.* FROM (${touched}) AS touched CROSS JOIN LATERAL (${receipt}) AS receipt`,
    found: { transfers: 'bigint' },
    find: (
      at,
    ) => sql`SELECT count(*) AS transfers FROM (SELECT 1 FROM ${change.remaining} AS other_row WHERE ${ofTransaction(at)}
    LIMIT ${AIRDROP_ABOVE + 1}) AS found`,
    findAll: (requested) => sql`SELECT ${joinSql(Object.values(requested))}, count(*) AS transfers
      FROM requested JOIN ${change.remaining} AS other_row ON ${ofTransaction(requested)} GROUP BY ${joinSql(Object.values(requested))}`,
  });
  const at = {
    ...keyOfLookup('touched', related),
    block_number: sql`receipt.block_number`,
    transaction_index: sql`receipt.transaction_index`,
  };
  return sql`WITH found AS MATERIALIZED (
  SELECT touched.token, touched.chain_id, touched.account, touched.lowest, receipt.block_number, receipt.transaction_index, related.transfers
  FROM (${touched}) AS touched LEFT JOIN LATERAL (${receipt}) AS receipt ON true
    LEFT JOIN LATERAL (${change.access.lookup(related, at)}) AS related ON receipt.block_number IS NOT NULL
)
UPDATE erc20_holders AS stored SET first_block = found.block_number, first_transaction = found.transaction_index,
  acquired = CASE WHEN found.block_number IS NOT NULL THEN (coalesce(found.transfers, 0) > ${AIRDROP_ABOVE})::int END
FROM found
WHERE ${hasSameKey(erc20Holders, HOLDER, 'stored', 'found')} AND stored.first_block >= found.lowest`;
}

function storedCounts(change: RowsChange): Sql {
  return change.access.stored({
    table: erc20HolderCounts,
    key: namesOf(erc20HolderCounts, TOKEN),
    wanted: changedTokens(change, TOKEN_LIST),
  });
}

function storedHolders(change: RowsChange): Sql {
  return change.access.stored({
    table: erc20Holders,
    key: namesOf(erc20Holders, HOLDER),
    wanted: changedHolders(change),
  });
}

export const HOLDER_CLASSES = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const;

/** How an account first received a token. The database stores the index. */
export const ACQUISITIONS = ['transfer', 'airdrop', 'swap'] as const;

/** A transaction with more transfers of a token than this is an airdrop. */
export const AIRDROP_ABOVE = 20;

/** Exact for all sizes. With a supply of zero every holder is a whale. */
export function classInSql(balance: Sql, supply: Sql): Sql {
  const bounds = [2_000, 20_000, 100_000, 400_000].map(
    (parts, index) => sql`WHEN ${balance} * ${rawSql(parts)} >= ${supply} THEN ${rawSql(index + 1)}`,
  );
  return sql`(CASE WHEN ${balance} * 1000 > ${supply} THEN 0 ${joinSql(bounds, ' ')} WHEN ${balance} * 2000000 >= ${supply} * 3 THEN 5 ELSE 6 END)`;
}

export function byClass<Value>(
  valueFor: (index: number) => Value,
): Record<(typeof HOLDER_CLASSES)[number], Value> {
  const entries = HOLDER_CLASSES.map((name, index) => [name, valueFor(index)]);
  return Object.fromEntries(entries) as Record<(typeof HOLDER_CLASSES)[number], Value>;
}

export function byAcquisition(
  numberOf: (index: number) => number,
): Record<(typeof ACQUISITIONS)[number], number> {
  return { swap: numberOf(2), transfer: numberOf(0), airdrop: numberOf(1) };
}
