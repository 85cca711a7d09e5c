import type { Chain } from '@chainstead/chains';
import type { Fraction } from '@chainstead/core';
import { toDateBound } from '@chainstead/data-api';
import type { Bind, ReadDatabase } from '@chainstead/db';
import { etherQuotes, readEtherQuote } from '@chainstead/price-feeds';
import type { PriceMoment } from '../token-price/price-place.ts';

/** The end of a block with the price of ether, whether or not states of pools are indexed there. */
export interface EtherPlace {
  /** Unix seconds of the block. */
  readonly time: number;
  /** US dollars per ether; null: unknown, or a block since the last price of its feed is not indexed. */
  readonly ether: Fraction | null;
}

/** Returns the last known block at or before a moment with its ether price; null: no such block. */
export async function readEtherPlace(
  database: ReadDatabase,
  chain: Chain,
  moment: Exclude<PriceMoment, { of: 'newest' }>,
): Promise<EtherPlace | null> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const quotes = etherQuotes(chain, chainId, bind);
  const [dates, highest] =
    moment.of === 'block'
      ? [[], `${bind(moment.block)}::bigint`]
      : [[toDateBound(chainId, `to_timestamp(${bind(moment.time)}::float8)`)], '(SELECT block FROM to_date)'];
  const ctes = [
    ...dates,
    `at AS MATERIALIZED (
  SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number <= ${highest} ORDER BY block_number DESC LIMIT 1)`,
    ...quotes.ctes,
  ];
  const end = { block: 'at.block_number', transaction: INT4_MAX, log: INT4_MAX };
  const [row] = await database.select<PlaceRow>(
    `WITH ${ctes.join(', ')} SELECT extract(epoch FROM at.block_timestamp)::float8 AS time, ether.value, ether.source
     FROM at LEFT JOIN LATERAL ${quotes.at(end)} AS ether ON true`,
    values,
  );
  return row === undefined ? null : { time: row.time, ether: readEtherQuote(chain, row) };
}

interface PlaceRow {
  readonly time: number;
  readonly value: string | null;
  readonly source: number | null;
}

const INT4_MAX = '2147483647';
