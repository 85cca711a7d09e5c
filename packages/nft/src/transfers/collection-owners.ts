import { addressKey } from '@chainstead/db/address-key';
import type { KeptState } from '@chainstead/sync';
import { NFT_TRANSFER_KINDS } from '@chainstead/token-events';
import { changedAmounts, changesAmounts, changesLeft, type KeptAmounts } from './moved-amounts.ts';

const AMOUNTS: KeptAmounts = { table: 'nft_collection_balances', party: 'owner', subject: 'contract' };

/**
 * Who holds the collections that somebody asked about: what their transfers add up to, by id and owner, by id, by owner, and together; and of ids that
 * are one thing who received them last, which is right however much is missing before. Sums don't ask in which order transfers came, so an amount is
 * below zero while the receipt that it begins with is not indexed; who has no more than zero is no owner. Which rows there are follows from the
 * transfers alone: one for each amount and id that ever moved, one for each present owner.
 */
export const nftCollectionOwners: KeptState = {
  name: 'nft-collection-owners',
  version: 1,
  tables: ['nft_collection_balances', 'nft_collection_ids', 'nft_collection_owners', 'nft_collection_counts'].map(
    (name) => ({ name, subject: 'token_address' }),
  ),
  rowsOf: (contract) => [
    `collection_key = ${addressKey(contract)} AND token_address = '\\x${contract.slice(2)}'::bytea`,
  ],
  indexes: ['nft_transfers_pkey'],
  added: (rows, kept) => [change(rows, kept, '+'), noteReceivers(rows, kept)],
  removed: (rows, kept, counted) => [
    change(rows, kept, '-'),
    ...changesLeft(AMOUNTS, rows, kept, counted),
    ...idsLeft(rows, kept, counted),
  ],
};

/** All four tables in one statement, each written in the order of its key: what one table gains or loses decides about the next. */
function change(rows: string, kept: string, sign: '+' | '-'): string {
  return `WITH ${changedAmounts(AMOUNTS, rows, kept, sign)}, id_changes AS MATERIALIZED (
  SELECT token_address, chain_id, token_id, net.supply, net.last_block,
    coalesce(held.holders, 0) AS before, coalesce(held.holders, 0) + net.holders AS after
  FROM (
    SELECT token_address, chain_id, token_id, max(last_block) AS last_block, ${DIFFERENCE} AS holders,
      sum(greatest(after, 0) - greatest(before, 0)) AS supply
    FROM changes GROUP BY token_address, chain_id, token_id
  ) AS net LEFT JOIN nft_collection_ids AS held USING (token_address, chain_id, token_id)
  ORDER BY token_address, chain_id, token_id
), ids_stored AS (
  INSERT INTO nft_collection_ids AS held (token_address, chain_id, token_id, token_hash, holders, supply, last_block)
  SELECT token_address, chain_id, token_id, ${TOKEN_HASH}, after, supply, last_block FROM id_changes
  ON CONFLICT (token_address, chain_id, token_id) DO UPDATE
    SET holders = excluded.holders, supply = held.supply + excluded.supply, last_block = greatest(held.last_block, excluded.last_block)
), owner_changes AS MATERIALIZED (
  SELECT token_address, chain_id, owner, coalesce(held.ids_held, 0) AS before, coalesce(held.ids_held, 0) + net.ids_held AS after
  FROM (
    SELECT token_address, chain_id, owner, ${DIFFERENCE} AS ids_held FROM changes
    GROUP BY token_address, chain_id, owner HAVING ${DIFFERENCE} <> 0
  ) AS net LEFT JOIN nft_collection_owners AS held USING (token_address, chain_id, owner)
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
  LEFT JOIN (SELECT token_address, chain_id, ${DIFFERENCE} AS difference FROM id_changes GROUP BY token_address, chain_id) AS of_ids
    USING (token_address, chain_id)
  LEFT JOIN (SELECT token_address, chain_id, ${DIFFERENCE} AS difference FROM owner_changes GROUP BY token_address, chain_id) AS of_owners
    USING (token_address, chain_id)
ORDER BY token_address, chain_id
ON CONFLICT (token_address, chain_id) DO UPDATE
  SET transfers = held.transfers + excluded.transfers, ids = held.ids + excluded.ids, owners = held.owners + excluded.owners`;
}

/** md5 of the contract's address as lower-case text with 0x, immediately followed by the id's decimal digits: 16 bytes. */
const TOKEN_HASH = `decode(md5('0x' || encode(token_address, 'hex') || token_id::text), 'hex')`;

/** By how many more there are above zero. */
const DIFFERENCE = 'sum((after > 0)::int - (before > 0)::int)';

/** Transfers of what is one thing, that change who has it. */
function movesOne(row: string): string {
  return `${changesAmounts(row)} AND ${row}.kind NOT IN (${NFT_TRANSFER_KINDS.erc1155Single}, ${NFT_TRANSFER_KINDS.erc1155Batch})`;
}

const placeOf = (row: string): string =>
  `ARRAY[${row}.block_number, ${row}.transaction_index, ${row}.log_index, ${row}.item]`;
const newestFirst = (row: string): string =>
  `${row}.block_number DESC, ${row}.transaction_index DESC, ${row}.log_index DESC, ${row}.item DESC`;

/** The newest of added rows tells who has an id, unless a newer one is known. */
function noteReceivers(rows: string, kept: string): string {
  return `UPDATE nft_collection_ids AS held SET newest = moved.place, receiver = moved.to_address
FROM (
  SELECT DISTINCT ON (moved.token_address, moved.chain_id, moved.token_id)
    moved.token_address, moved.chain_id, moved.token_id, ${placeOf('moved')} AS place, moved.to_address
  FROM ${keptRows(rows, kept)} WHERE ${movesOne('moved')}
  ORDER BY moved.token_address, moved.chain_id, moved.token_id, ${newestFirst('moved')}
) AS moved
WHERE (held.token_address, held.chain_id, held.token_id) = (moved.token_address, moved.chain_id, moved.token_id)
  AND (held.newest IS NULL OR held.newest < moved.place)`;
}

/** Rows of the kept collections, as `moved`. */
function keptRows(rows: string, kept: string): string {
  return `${rows} AS moved JOIN ${kept} AS kept ON kept.subject = moved.token_address AND moved.block_number <= kept.built_to`;
}

/** What is newest of each id that a removed row is of, from what is left; ids and collections of which nothing is left are forgotten. */
function idsLeft(rows: string, kept: string, counted: string): readonly string[] {
  const touched = (columns: string): string => `(SELECT DISTINCT ${columns} FROM ${keptRows(rows, kept)}) AS touched`;
  const ids = touched('moved.token_address, moved.chain_id, moved.token_id, kept.built_to');
  const isTouched =
    '(held.token_address, held.chain_id, held.token_id) = (touched.token_address, touched.chain_id, touched.token_id)';
  return [
    `UPDATE nft_collection_ids AS held SET newest = last_move.place, receiver = last_move.to_address, last_block = coalesce((
    SELECT max(amounts.last_block) FROM nft_collection_balances AS amounts
    WHERE amounts.token_address = held.token_address AND amounts.chain_id = held.chain_id AND amounts.token_id = held.token_id
  ), -1)
FROM ${ids} LEFT JOIN LATERAL (
  SELECT ${placeOf('left_over')} AS place, left_over.to_address FROM ${counted} AS left_over
  WHERE left_over.collection_key = address_key(touched.token_address) AND token_id_key(left_over.token_id) = token_id_key(touched.token_id)
    AND left_over.chain_id = touched.chain_id AND left_over.token_address = touched.token_address AND left_over.token_id = touched.token_id
    AND ${movesOne('left_over')} AND left_over.block_number <= touched.built_to
  ORDER BY ${newestFirst('left_over')} LIMIT 1
) AS last_move ON true
WHERE ${isTouched}`,
    `DELETE FROM nft_collection_ids AS held USING ${ids} WHERE ${isTouched} AND held.last_block < 0`,
    `DELETE FROM nft_collection_counts AS held USING ${touched('moved.token_address, moved.chain_id')}
WHERE (held.token_address, held.chain_id) = (touched.token_address, touched.chain_id) AND held.transfers = 0`,
  ];
}
