/**
 * Amounts of NFTs by who has them, added up from `nft_transfers`: the SQL that states for wallets and for collections share. Tables of such a
 * state have `chain_id`, `token_address`, `token_id`, the party's column, `amount` and `last_block`.
 */
import { ZERO_ADDRESS } from '@chainstead/core';

/** A table of amounts, and whose they are. */
export interface KeptAmounts {
  readonly table: string;
  /** The column that says who has it. */
  readonly party: 'wallet' | 'owner';
  /** What is asked about, `kept.subject`: one of a transfer's sides, or its contract. */
  readonly subject: 'party' | 'contract';
}

/** `last_block` where no row is left. */
const NO_BLOCK = -1;
const ZERO_PARTY = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;

/** Neither a transfer to oneself, nor of nothing, nor a range of ids that is not expanded. */
export function changesAmounts(row: string): string {
  return `${row}.from_address <> ${row}.to_address AND ${row}.amount <> 0 AND ${row}.last_token_id IS NULL`;
}

/** What rows change for each of their kept sides: an amount's key, `block_number`, `delta` and `built_to`. Never of the zero address. */
function sidesOf({ party, subject }: KeptAmounts, rows: string, kept: string, sign: '+' | '-'): string {
  return `(SELECT side.${party}, moved.chain_id, moved.token_address, moved.token_id, moved.block_number, side.delta, kept.built_to
    FROM ${rows} AS moved
      CROSS JOIN LATERAL (VALUES (moved.to_address, ${sign}moved.amount), (moved.from_address, -(${sign}moved.amount))) AS side(${party}, delta)
      JOIN ${kept} AS kept ON kept.subject = ${subject === 'party' ? `side.${party}` : 'moved.token_address'} AND moved.block_number <= kept.built_to
    WHERE ${changesAmounts('moved')} AND side.${party} <> ${ZERO_PARTY})`;
}

/** In the order of the primary key. */
function keyOf({ party, subject }: KeptAmounts): readonly string[] {
  return subject === 'party'
    ? [party, 'chain_id', 'token_address', 'token_id']
    : ['token_address', 'chain_id', 'token_id', party];
}

/**
 * CTEs that change the amounts; `changes` says what each was `before` and is `after`. One statement for all rows: commits of a chain never
 * run side by side, so what it reads of amounts is what it changes.
 */
export function changedAmounts(amounts: KeptAmounts, rows: string, kept: string, sign: '+' | '-'): string {
  const key = keyOf(amounts).join(', ');
  return `deltas AS (
  SELECT ${key}, sum(delta) AS delta, max(block_number) AS last_block FROM ${sidesOf(amounts, rows, kept, sign)} AS moved GROUP BY ${key}
), changes AS MATERIALIZED (
  SELECT ${key}, deltas.last_block, coalesce(held.amount, 0) AS before, coalesce(held.amount, 0) + delta AS after
  FROM deltas LEFT JOIN ${amounts.table} AS held USING (${key}) ORDER BY ${key}
), stored AS (
  INSERT INTO ${amounts.table} AS held (${key}, amount, last_block) SELECT ${key}, after, last_block FROM changes
  ON CONFLICT (${key}) DO UPDATE SET amount = excluded.amount, last_block = greatest(held.last_block, excluded.last_block)
)`;
}

/**
 * Statements that follow the change by removed rows: the newest change of each of their amounts is found again in the rows that are left, each id
 * read once; and amounts of which no row is left are forgotten.
 */
export function changesLeft(amounts: KeptAmounts, rows: string, kept: string, counted: string): readonly string[] {
  const { party, table } = amounts;
  const key = keyOf(amounts);
  const touched = `SELECT DISTINCT ${key.join(', ')}, built_to FROM ${sidesOf(amounts, rows, kept, '-')} AS moved`;
  const isTouched = `(${key.map((column) => `held.${column}`).join(', ')}) = (${key.map((column) => `touched.${column}`).join(', ')})`;
  return [
    `WITH touched AS MATERIALIZED (${touched}), ids AS (
  SELECT DISTINCT chain_id, token_address, token_id, built_to FROM touched
), newest AS MATERIALIZED (
  SELECT ids.chain_id, ids.token_address, ids.token_id, ids.built_to, newest.${party}, newest.block
  FROM ids CROSS JOIN LATERAL (
    SELECT side.${party}, max(left_over.block_number) AS block
    FROM ${counted} AS left_over CROSS JOIN LATERAL (VALUES (left_over.to_address), (left_over.from_address)) AS side(${party})
    WHERE left_over.collection_key = address_key(ids.token_address) AND token_id_key(left_over.token_id) = token_id_key(ids.token_id)
      AND left_over.chain_id = ids.chain_id AND left_over.token_address = ids.token_address AND left_over.token_id = ids.token_id
      AND ${changesAmounts('left_over')} AND left_over.block_number <= ids.built_to
    GROUP BY side.${party}
  ) AS newest
)
UPDATE ${table} AS held SET last_block = coalesce(newest.block, ${NO_BLOCK})
FROM touched LEFT JOIN newest USING (chain_id, token_address, token_id, built_to, ${party})
WHERE ${isTouched}`,
    `DELETE FROM ${table} AS held USING (${touched}) AS touched WHERE ${isTouched} AND held.last_block = ${NO_BLOCK}`,
  ];
}
