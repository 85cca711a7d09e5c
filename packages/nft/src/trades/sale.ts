/**
 * SQL for the rows of `nft_trades` that show a token's price: trades of one token only. Its price is that of one unit,
 * rounded down, and above zero. Arguments are SQL expressions, never values.
 */
import { ZERO_ADDRESS } from '@chainstead/core';

/** The value of `nft_sale_days.payment_token` for the native token. */
export const NATIVE_CURRENCY = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;

/** All ids of the collection in the trade. */
export function tokenIdsOf(trade: string): string {
  return `coalesce(${trade}.token_ids, ARRAY[${trade}.token_id])`;
}

/** Whether the trade is of a single token; of an ERC-1155 token, possibly of several units. */
export function isSingleToken(trade: string): string {
  return `${trade}.collections = 1 AND coalesce(${trade}.token_id = ALL (${trade}.token_ids), true)`;
}

/** The price of one unit; null if the number of units is unknown. Base units. @param price of the whole trade */
export function unitPrice(trade: string, price: string): string {
  return `CASE WHEN coalesce(${trade}.amounts = '{1}', true) THEN ${price}
    ELSE div(${price}, nullif((SELECT sum(units) FROM unnest(${trade}.amounts) AS units), 0)) END`;
}

/**
 * Whether a unit price is valid. The upper bound is the largest 256-bit number: no payment is larger, whatever the
 * event contains.
 */
export function isSalePrice(unit: string): string {
  return `${unit} BETWEEN 1 AND 115792089237316195423570985008687907853269984665640564039457584007913129639935`;
}

/** The day of a trade, in UTC. */
export function dayOf(trade: string): string {
  return `(${trade}.block_timestamp AT TIME ZONE 'UTC')::date`;
}

/** Position columns, in chain order. */
export const PLACE_COLUMNS = ['block_number', 'transaction_index', 'log_index', 'item'] as const;

/**
 * Returns the select-list entries that aggregate sales. The lowest, highest and latest sale are minimums over arrays of
 * numbers: [price, place …], [−price, place …], [−place …]. If prices are equal, the earliest sale therefore counts,
 * whatever the order of rows.
 * @param sales a relation with `unit` and the position columns
 */
export function saleSummary(sales: string): string {
  const place = PLACE_COLUMNS.map((column) => `${sales}.${column}`);
  return `count(*) AS sales, sum(${sales}.unit) AS total,
    min(ARRAY[${sales}.unit, ${place.join(', ')}]::numeric[]) AS lowest,
    min(ARRAY[-${sales}.unit, ${place.join(', ')}]::numeric[]) AS highest,
    min(ARRAY[${place.map((column) => `-${column}`).join(', ')}]::numeric[]) AS latest`;
}
