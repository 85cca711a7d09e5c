/**
 * Amounts of NFTs by who has them, from `nft_transfers`: the SQL that states for wallets and for collections share. Of ERC-1155 an amount is what
 * was received minus what was given. Of an id that is one thing it is one where its newest transfer went, and zero elsewhere: such ids may exist before
 * their first transfer, so what comes back to where it was would add up to nothing. Tables of such a state have `chain_id`, `token_address`,
 * `token_id`, the party's column, `amount` and `last_block`.
 */
import { ZERO_ADDRESS } from '@chainstead/core';
import { columnsOf, defineLookUp, type LookUpPlace, type Reading } from '@chainstead/sync';
import { NFT_TRANSFER_KINDS } from '@chainstead/token-events';

/** A table of amounts, and whose they are. */
export interface KeptAmounts {
  readonly table: string;
  /** The column that says who has it. */
  readonly party: 'wallet' | 'owner';
  /** What is asked about, `kept.subject`: one of a transfer's sides, or its contract. */
  readonly subject: 'party' | 'contract';
  /** The column that says that an amount is a sum, of ERC-1155. Absent where another column tells it. */
  readonly isSum?: 'is_sum';
}

/** `last_block` of what only transfers to oneself tell of: when it came to its owner is not known. */
export const UNKNOWN_BLOCK = -1;
/** `last_block` where no row is left, until the statement after. */
export const NO_BLOCK = -2;
/** The zero address as SQL. */
export const ZERO_PARTY = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;
const SEVERAL = [NFT_TRANSFER_KINDS.erc1155Single, NFT_TRANSFER_KINDS.erc1155Batch].join(', ');

/** The block of the newest change of who has how much, as answers show it. */
export function changeBlockOf(lastBlock: number): number | null {
  return lastBlock === UNKNOWN_BLOCK ? null : lastBlock;
}

/** Transfers of what is one thing. */
export function movesOne(row: string): string {
  return `${row}.kind NOT IN (${SEVERAL})`;
}

/** Transfers that change who has how much: neither to oneself, nor of nothing, nor of a range of ids that is not expanded. */
export function changesHolder(row: string): string {
  return `${row}.from_address <> ${row}.to_address AND ${isCounted(row)}`;
}

/** Transfers that tell who has something: those that change it, and those of one thing to oneself. */
export function tellsHolder(row: string): string {
  return `(${row}.from_address <> ${row}.to_address OR ${movesOne(row)} AND ${row}.to_address <> ${ZERO_PARTY}) AND ${isCounted(row)}`;
}

function isCounted(row: string): string {
  return `${row}.amount <> 0 AND ${row}.last_token_id IS NULL`;
}

/** Where transfers and trades of the contract lie that a look-up is asked by. */
export const WITH_CONTRACT: LookUpPlace<'token_address'> = {
  table: 'nft_transfers',
  type: 'bigint',
  key: (at) => `address_key(${at.token_address})`,
};

/** Rows of an id, by the index by token. @param id SQL for what names it @param isThere the same for `collection_key` */
export function ofSameId(
  row: string,
  id: Readonly<Record<'chain_id' | 'token_address' | 'token_id', string>>,
  isThere: (column: string) => string,
): string {
  return `${isThere(`${row}.collection_key`)} AND token_id_key(${row}.token_id) = token_id_key(${id.token_id})
      AND ${row}.chain_id = ${id.chain_id} AND ${row}.token_address = ${id.token_address} AND ${row}.token_id = ${id.token_id}`;
}

/** How rows are ordered, the newest first. */
export function newestFirst(row: string): string {
  return ['block_number', 'transaction_index', 'log_index', 'item'].map((column) => `${row}.${column} DESC`).join(', ');
}

/** Of a transfer that changes nothing the block says nothing. */
function changedBlock(row: string): string {
  return `CASE WHEN ${row}.from_address = ${row}.to_address THEN ${UNKNOWN_BLOCK} ELSE ${row}.block_number END`;
}

/** Where a transfer of one thing stands on its chain, and which side of it (1: who received). One log moves an id that is one thing once. */
export function sidePlace(row: string, received: string): string {
  return `(${row}.block_number::bigint << 32) + (${row}.log_index::bigint << 1) + ${received}`;
}

/**
 * What rows tell of each of their kept sides: an amount's key, `built_to`, `changed_block`, `delta`, which is of ERC-1155 alone, and `place`, which
 * is of single things alone. Never of the zero address.
 */
export function sidesOf({ party, subject }: KeptAmounts, rows: string, kept: string, sign: '+' | '-'): string {
  return `(SELECT side.${party}, moved.chain_id, moved.token_address, moved.token_id, kept.built_to, ${changedBlock('moved')} AS changed_block,
      CASE WHEN ${movesOne('moved')} THEN 0 ELSE side.delta END AS delta,
      CASE WHEN ${movesOne('moved')} THEN ${sidePlace('moved', 'side.received')} END AS place
    FROM ${rows} AS moved
      CROSS JOIN LATERAL (VALUES (moved.to_address, ${sign}moved.amount, 1), (moved.from_address, -(${sign}moved.amount), 0)) AS side(${party}, delta, received)
      JOIN ${kept} AS kept ON kept.subject = ${subject === 'party' ? `side.${party}` : 'moved.token_address'} AND moved.block_number <= kept.built_to
    WHERE ${tellsHolder('moved')} AND side.${party} <> ${ZERO_PARTY})`;
}

/** In the order of the primary key. */
export function keyOf({ party, subject }: KeptAmounts): readonly string[] {
  return subject === 'party'
    ? [party, 'chain_id', 'token_address', 'token_id']
    : ['token_address', 'chain_id', 'token_id', party];
}

/**
 * Statements that follow the change by removed rows: the newest change of each of their amounts is found again in the rows that are left, each id
 * read once; and amounts of which no row is left are forgotten.
 */
export function changesLeft(
  amounts: KeptAmounts,
  changed: { readonly rows: string; readonly kept: string; readonly counted: string },
  reading: Reading,
): readonly string[] {
  const { party, table, isSum } = amounts;
  const key = keyOf(amounts);
  const touched = `SELECT DISTINCT ${key.join(', ')}, built_to FROM ${sidesOf(amounts, changed.rows, changed.kept, '-')} AS moved`;
  const isTouched = `(${key.map((column) => `held.${column}`).join(', ')}) = (${key.map((column) => `touched.${column}`).join(', ')})`;
  const sides = defineLookUp({
    name: `newest_changes_by_${party}`,
    by: { chain_id: 'bigint', token_address: 'bytea', token_id: 'numeric', built_to: 'bigint' },
    wanted: touched,
    found: { [party]: 'bytea', block: 'integer', has_sum: 'boolean' },
    place: WITH_CONTRACT,
    find: (
      at,
      isThere,
    ) => `SELECT side.${party}, max(${changedBlock('left_over')}) AS block, bool_or(NOT (${movesOne('left_over')})) AS has_sum
    FROM ${changed.counted} AS left_over CROSS JOIN LATERAL (VALUES (left_over.to_address), (left_over.from_address)) AS side(${party})
    WHERE ${ofSameId('left_over', at, isThere)} AND ${tellsHolder('left_over')} AND left_over.block_number <= ${at.built_to}
    GROUP BY side.${party}`,
  });
  return [
    `WITH touched AS MATERIALIZED (${touched}), ids AS (
  SELECT DISTINCT chain_id, token_address, token_id, built_to FROM touched
), newest AS MATERIALIZED (
  SELECT ids.chain_id, ids.token_address, ids.token_id, ids.built_to, newest.${party}, newest.block, newest.has_sum
  FROM ids CROSS JOIN LATERAL (${reading.lookUp(sides, columnsOf('ids', sides))}) AS newest
), left_over AS MATERIALIZED (
  SELECT touched.*, newest.block, newest.has_sum FROM touched LEFT JOIN newest USING (chain_id, token_address, token_id, built_to, ${party})
)
UPDATE ${table} AS held SET last_block = coalesce(touched.block, ${NO_BLOCK})${isSum === undefined ? '' : `, ${isSum} = coalesce(touched.has_sum, false)`}
FROM left_over AS touched
WHERE ${isTouched}`,
    `WITH touched AS MATERIALIZED (${touched})
DELETE FROM ${table} AS held USING touched WHERE ${isTouched} AND held.last_block = ${NO_BLOCK}`,
  ];
}
