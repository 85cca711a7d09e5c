import { columnsOf, defineLookUp, IN_PLACE, type Reading, type SubjectState } from '@chainstead/sync';
import {
  changesLeft,
  type KeptAmounts,
  keyOf,
  movesOne,
  NO_BLOCK,
  newestFirst,
  ofSameId,
  sidesOf,
  tellsHolder,
  UNKNOWN_BLOCK,
  WITH_CONTRACT,
  ZERO_PARTY,
} from './moved-amounts.ts';

const AMOUNTS: KeptAmounts = {
  table: 'nft_collection_balances',
  party: 'owner',
  subject: 'contract',
  isSum: 'is_sum',
};
const KEY = keyOf(AMOUNTS).join(', ');
const ID = 'token_address, chain_id, token_id';
const OWNER = 'token_address, chain_id, owner';

/**
 * Who holds the collections that somebody asked about, by id and owner, by id, by owner, and together. An id that is one thing is its newest
 * receiver's, which is right however much is missing before; of ERC-1155 an amount is what transfers add up to. Neither asks in which order they came. A sum
 * is below zero while the receipt that it begins with is not indexed; who has no more than zero is no owner. Which rows there are follows from
 * the transfers alone: one for each amount and id that ever moved, one for each present owner.
 */
export const nftCollectionOwners: SubjectState = {
  name: 'nft-collection-owners',
  version: 3,
  tables: ['nft_collection_balances', 'nft_collection_ids', 'nft_collection_owners', 'nft_collection_counts'],
  subjects: {
    column: 'token_address',
    rowsOf: (contract) => [`collection_key = address_key(${contract}) AND token_address = ${contract}`],
    indexes: ['nft_transfers_pkey'],
  },
  added: (rows, kept, reading = IN_PLACE) => [
    change({ rows, kept, sign: '+' }, newReceivers(rows, kept, reading), reading),
  ],
  removed: (rows, kept, counted, reading = IN_PLACE) => [
    change({ rows, kept, sign: '-' }, receiversLeft({ rows, kept, counted }, reading), reading),
    ...changesLeft(AMOUNTS, { rows, kept, counted }, reading),
    ...idsLeft(rows, kept, reading),
  ],
};

interface RowsChange {
  readonly rows: string;
  readonly kept: string;
  readonly sign: '+' | '-';
}

/**
 * All four tables in one statement, each written in the order of its key: what one table gains or loses decides about the next.
 * @param receivers a query of the ids whose newest receiver changes: `newest`, `receiver`, and who that was before (`former`)
 */
function change({ rows, kept, sign }: RowsChange, receivers: string, reading: Reading): string {
  const sides = `received AS MATERIALIZED (${receivers}), sides AS (
  SELECT ${KEY}, changed_block, delta, place IS NULL AS is_sum FROM ${sidesOf(AMOUNTS, rows, kept, sign)} AS moved
  UNION ALL
  SELECT ${ID}, side.owner, ${UNKNOWN_BLOCK}, side.delta, false
  FROM received CROSS JOIN LATERAL (VALUES (received.former, -1), (received.receiver, 1)) AS side(owner, delta) WHERE side.owner <> ${ZERO_PARTY}
)`;
  const stored = (table: string, key: string, of: string): string =>
    reading.stored({ table, key: key.split(', '), wanted: `WITH ${sides} SELECT DISTINCT ${key} FROM ${of}` });
  const amounts = stored('nft_collection_balances', KEY, 'sides');
  const ids = stored(
    'nft_collection_ids',
    ID,
    `(SELECT ${ID} FROM sides UNION ALL SELECT ${ID} FROM received) AS told`,
  );
  const owners = stored('nft_collection_owners', OWNER, 'sides');
  return `WITH ${sides}, deltas AS (
  SELECT ${KEY}, sum(delta) AS delta, max(changed_block) AS last_block, bool_or(is_sum) AS is_sum FROM sides GROUP BY ${KEY}
), changes AS MATERIALIZED (
  SELECT ${KEY}, deltas.last_block, deltas.is_sum, coalesce(held.amount, 0) AS before, coalesce(held.amount, 0) + delta AS after
  FROM deltas LEFT JOIN ${amounts} AS held USING (${KEY}) ORDER BY ${KEY}
), stored AS (
  INSERT INTO nft_collection_balances AS held (${KEY}, amount, last_block, is_sum) SELECT ${KEY}, after, last_block, is_sum FROM changes
  ON CONFLICT (${KEY}) DO UPDATE
    SET amount = excluded.amount, last_block = greatest(held.last_block, excluded.last_block), is_sum = held.is_sum OR excluded.is_sum
), id_changes AS MATERIALIZED (
  SELECT ${ID}, net.supply, net.last_block, coalesce(held.holders, 0) + net.holders AS holders, coalesce(held.is_held, false) AS was_held,
    CASE WHEN net.is_received THEN net.newest ELSE held.newest END AS newest,
    CASE WHEN net.is_received THEN net.receiver ELSE held.receiver END AS receiver
  FROM (${netOfIds()}) AS net LEFT JOIN ${ids} AS held USING (${ID})
  ORDER BY ${ID}
), ids_stored AS (
  INSERT INTO nft_collection_ids AS held (${ID}, token_hash, holders, supply, last_block, newest, receiver)
  SELECT ${ID}, ${TOKEN_HASH}, holders, supply, last_block, newest, receiver FROM id_changes
  ON CONFLICT (${ID}) DO UPDATE
    SET holders = excluded.holders, supply = held.supply + excluded.supply, last_block = greatest(held.last_block, excluded.last_block),
      newest = excluded.newest, receiver = excluded.receiver
), owner_changes AS MATERIALIZED (
  SELECT token_address, chain_id, owner, coalesce(held.ids_held, 0) AS before, coalesce(held.ids_held, 0) + net.ids_held AS after
  FROM (
    SELECT token_address, chain_id, owner, ${DIFFERENCE} AS ids_held FROM changes
    GROUP BY token_address, chain_id, owner HAVING ${DIFFERENCE} <> 0
  ) AS net LEFT JOIN ${owners} AS held USING (${OWNER})
  ORDER BY token_address, chain_id, owner
), owners_gone AS (
  DELETE FROM nft_collection_owners AS held USING owner_changes AS gone
  WHERE (held.token_address, held.chain_id, held.owner) = (gone.token_address, gone.chain_id, gone.owner) AND gone.after = 0
), owners_stored AS (
  INSERT INTO nft_collection_owners (token_address, chain_id, owner, ids_held)
  SELECT token_address, chain_id, owner, after FROM owner_changes WHERE after > 0
  ON CONFLICT (token_address, chain_id, owner) DO UPDATE SET ids_held = excluded.ids_held
), counted_rows AS (
  SELECT moved.token_address, moved.chain_id, ${sign}count(*) AS transfers FROM ${keptRows(rows, kept)}
  GROUP BY moved.token_address, moved.chain_id
)
INSERT INTO nft_collection_counts AS held (token_address, chain_id, transfers, ids, owners)
SELECT token_address, chain_id, transfers, coalesce(of_ids.difference, 0), coalesce(of_owners.difference, 0)
FROM counted_rows
  LEFT JOIN (
    SELECT token_address, chain_id, sum((${IS_HELD})::int - was_held::int) AS difference FROM id_changes GROUP BY token_address, chain_id
  ) AS of_ids USING (token_address, chain_id)
  LEFT JOIN (SELECT token_address, chain_id, ${DIFFERENCE} AS difference FROM owner_changes GROUP BY token_address, chain_id) AS of_owners
    USING (token_address, chain_id)
ORDER BY token_address, chain_id
ON CONFLICT (token_address, chain_id) DO UPDATE
  SET transfers = held.transfers + excluded.transfers, ids = held.ids + excluded.ids, owners = held.owners + excluded.owners`;
}

/** What `changes` and `received` are together by id. Not a join: without statistics its planner would compare each row of one with each of the other. */
function netOfIds(): string {
  return `SELECT ${ID}, max(last_block) AS last_block, sum(holders) AS holders, sum(supply) AS supply, bool_or(is_received) AS is_received,
      max(newest) AS newest, (array_agg(receiver) FILTER (WHERE is_received))[1] AS receiver
    FROM (
      SELECT ${ID}, last_block, (after > 0)::int - (before > 0)::int AS holders, greatest(after, 0) - greatest(before, 0) AS supply,
        false AS is_received, NULL::integer[] AS newest, NULL::bytea AS receiver FROM changes
      UNION ALL
      SELECT ${ID}, ${UNKNOWN_BLOCK}, 0, 0, true, newest, receiver FROM received
    ) AS parts GROUP BY ${ID}`;
}

/** md5 of the contract's address as lower-case text with 0x, immediately followed by the id's decimal digits: 16 bytes. */
const TOKEN_HASH = `decode(md5('0x' || encode(token_address, 'hex') || token_id::text), 'hex')`;

/** By how many more there are above zero. */
const DIFFERENCE = 'sum((after > 0)::int - (before > 0)::int)';

/** Whether an id exists, as the column says it. */
const IS_HELD = `CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> ${ZERO_PARTY} END`;

const placeOf = (row: string): string =>
  `ARRAY[${row}.block_number, ${row}.transaction_index, ${row}.log_index, ${row}.item]`;

/** The newest of added rows tells who has an id that is one thing, unless a newer one is known. */
function newReceivers(rows: string, kept: string, reading: Reading): string {
  return `SELECT told.token_address, told.chain_id, told.token_id, told.newest, told.receiver, held.receiver AS former FROM (
    SELECT DISTINCT ON (moved.token_address, moved.chain_id, moved.token_id)
      moved.token_address, moved.chain_id, moved.token_id, ${placeOf('moved')} AS newest, moved.to_address AS receiver
    FROM ${keptRows(rows, kept)} WHERE ${movesOne('moved')} AND ${tellsHolder('moved')}
    ORDER BY moved.token_address, moved.chain_id, moved.token_id, ${newestFirst('moved')}
  ) AS told LEFT JOIN LATERAL (${knownOf('told', knownIds(rows, kept, reading))}) AS held ON true
  WHERE held.newest IS NULL OR held.newest < told.newest`;
}

/** Where the newest of an id is among removed rows, the newest of those that are left tells who has it. */
function receiversLeft(
  { rows, kept, counted }: { readonly rows: string; readonly kept: string; readonly counted: string },
  reading: Reading,
): string {
  const gone = `SELECT moved.token_address, moved.chain_id, moved.token_id, kept.built_to, max(${placeOf('moved')}) AS newest
    FROM ${keptRows(rows, kept)} WHERE ${movesOne('moved')} AND ${tellsHolder('moved')}
    GROUP BY moved.token_address, moved.chain_id, moved.token_id, kept.built_to`;
  const lastMove = defineLookUp({
    name: 'last_moves',
    by: { token_address: 'bytea', chain_id: 'bigint', token_id: 'numeric', built_to: 'bigint' },
    wanted: gone,
    found: { newest: 'integer[]', receiver: 'bytea' },
    place: WITH_CONTRACT,
    find: (
      at,
      isThere,
    ) => `SELECT ${placeOf('left_over')} AS newest, left_over.to_address AS receiver FROM ${counted} AS left_over
    WHERE ${ofSameId('left_over', at, isThere)} AND ${movesOne('left_over')} AND ${tellsHolder('left_over')} AND left_over.block_number <= ${at.built_to}
    ORDER BY ${newestFirst('left_over')} LIMIT 1`,
  });
  return `SELECT gone.token_address, gone.chain_id, gone.token_id, last_move.newest, last_move.receiver, held.receiver AS former FROM (
    ${gone}
  ) AS gone CROSS JOIN LATERAL (${knownOf('gone', knownIds(rows, kept, reading))}) AS held LEFT JOIN LATERAL (
    ${reading.lookUp(lastMove, columnsOf('gone', lastMove))}
  ) AS last_move ON true
  WHERE gone.newest >= held.newest`;
}

/** What is known of the id that a row names: a probe of the key, whatever statistics say. */
function knownOf(named: string, known: string): string {
  return `SELECT ids.newest, ids.receiver FROM ${known} AS ids
    WHERE ids.token_address = ${named}.token_address AND ids.chain_id = ${named}.chain_id AND ids.token_id = ${named}.token_id LIMIT 1`;
}

/** The ids of changed rows, as they are stored. */
function knownIds(rows: string, kept: string, reading: Reading): string {
  const wanted = `SELECT DISTINCT moved.token_address, moved.chain_id, moved.token_id FROM ${keptRows(rows, kept)}`;
  return reading.stored({ table: 'nft_collection_ids', key: ID.split(', '), wanted });
}

/** Rows of the kept collections, as `moved`. */
function keptRows(rows: string, kept: string): string {
  return `${rows} AS moved JOIN ${kept} AS kept ON kept.subject = moved.token_address AND moved.block_number <= kept.built_to`;
}

/** The newest change of each id that a removed row is of, from what is left; ids and collections of which nothing is left are forgotten. */
function idsLeft(rows: string, kept: string, reading: Reading): readonly string[] {
  const touched = (columns: string): string => `SELECT DISTINCT ${columns} FROM ${keptRows(rows, kept)}`;
  const ids = touched('moved.token_address, moved.chain_id, moved.token_id');
  const isTouched =
    '(held.token_address, held.chain_id, held.token_id) = (touched.token_address, touched.chain_id, touched.token_id)';
  const amounts = reading.stored({ table: 'nft_collection_balances', key: ID.split(', '), wanted: ids });
  return [
    `WITH touched AS MATERIALIZED (
  SELECT ids.*, (
    SELECT max(amounts.last_block) FROM ${amounts} AS amounts
    WHERE amounts.token_address = ids.token_address AND amounts.chain_id = ids.chain_id AND amounts.token_id = ids.token_id
  ) AS newest FROM (${ids}) AS ids
)
UPDATE nft_collection_ids AS held SET last_block = coalesce(touched.newest, ${NO_BLOCK}) FROM touched WHERE ${isTouched}`,
    `WITH touched AS MATERIALIZED (${ids})
DELETE FROM nft_collection_ids AS held USING touched WHERE ${isTouched} AND held.last_block = ${NO_BLOCK}`,
    `WITH touched AS MATERIALIZED (${touched('moved.token_address, moved.chain_id')})
DELETE FROM nft_collection_counts AS held USING touched
WHERE (held.token_address, held.chain_id) = (touched.token_address, touched.chain_id) AND held.transfers = 0`,
  ];
}
