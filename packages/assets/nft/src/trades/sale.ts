/** Trades of one token, which show its price. Prices are per unit, rounded down. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { asSql, columnsAs, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { nftTrades } from './schema.ts';

export const NATIVE_CURRENCY = rawSql(`'\\x${ZERO_ADDRESS.slice(2)}'::bytea`);

export function tokenIdsOf(trade: string): Sql {
  const { tokenIds, tokenId } = columnsAs(nftTrades, trade);
  return sql`coalesce(${tokenIds}, ARRAY[${tokenId}])`;
}

export function isSingleToken(trade: string): Sql {
  const { collections, tokenIds, tokenId } = columnsAs(nftTrades, trade);
  return sql`${collections} = 1 AND coalesce(${tokenId} = ALL (${tokenIds}), true)`;
}

/** Base units; null if the number of units is unknown. @param price of the whole trade */
export function unitPrice(trade: string, price: Sql): Sql {
  const { amounts } = columnsAs(nftTrades, trade);
  return sql`CASE WHEN coalesce(${amounts} = '{1}', true) THEN ${price}
    ELSE div(${price}, nullif((SELECT sum(units) FROM unnest(${amounts}) AS units), 0)) END`;
}

/** At most 2^256 − 1: no payment is larger, whatever the event contains. */
export function isSalePrice(unit: string | Sql): Sql {
  return sql`${asSql(unit)} BETWEEN 1 AND 115792089237316195423570985008687907853269984665640564039457584007913129639935`;
}

export function dayOf(trade: string): Sql {
  return sql`(${columnsAs(nftTrades, trade).blockTimestamp} AT TIME ZONE 'UTC')::date`;
}

export const PLACE_COLUMNS = ['block_number', 'transaction_index', 'log_index', 'item'] as const;

/**
 * Minimums of [price, place …], [−price, place …], [−place …]: of equal prices the earliest.
 * @param sales a relation with `unit` and the position columns
 */
export function saleSummary(sales: string): Sql {
  const unit = rawSql(`${sales}.unit`);
  const columns = PLACE_COLUMNS.map((column) => rawSql(`${sales}.${column}`));
  const place = joinSql(columns);
  return sql`count(*) AS sales, sum(${unit}) AS total,
    min(ARRAY[${unit}, ${place}]::numeric[]) AS lowest,
    min(ARRAY[-${unit}, ${place}]::numeric[]) AS highest,
    min(ARRAY[${joinSql(columns.map((column) => sql`-${column}`))}]::numeric[]) AS latest`;
}
