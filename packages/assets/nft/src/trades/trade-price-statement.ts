import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, columnsAs, joinSql, namesOf, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { nftTrades } from './schema.ts';

export interface Priced {
  readonly ctes: readonly Sql[];
  readonly join: Sql;
  readonly price: Sql;
}

export const BY_BIDS: Priced = {
  ctes: [],
  join: rawSql(''),
  price: sql`coalesce(trade.price, ${acceptedBidPrice('trade')})`,
};

/** For distributed tables: bids are on other nodes, so they are read first. */
export function pricedBefore(
  { cryptoPunks }: Chain,
  chainId: Sql,
  of: { readonly collection: Address } | { readonly wallet: Address },
): Priced {
  if (cryptoPunks === null || ('collection' in of && of.collection !== cryptoPunks))
    return { ctes: [], join: rawSql(''), price: sql`trade.price` };
  const punks = sql`${addressBytes(cryptoPunks)}::bytea`;
  const own =
    'wallet' in of ? sql` AND ${addressBytes(of.wallet)}::bytea IN (trade.seller, trade.buyer)` : rawSql('');
  const place = joinSql(PLACE.map((column) => rawSql(`trade.${column}`)));
  const bidPlace = joinSql(PLACE.map((column) => rawSql(`bid_${column}`)));
  const isSamePlace = PLACE.map((column) => rawSql(`bids.bid_${column} = trade.${column}`));
  return {
    ctes: [
      sql`unpriced AS MATERIALIZED (
  SELECT trade.chain_id, trade.token_id, trade.buyer, ${place} FROM nft_trades AS trade
  WHERE trade.collection_key = ${addressKey(cryptoPunks)}::bigint AND trade.token_address = ${punks} AND trade.chain_id = ${chainId} AND trade.price IS NULL${own})`,
      sql`bids(${bidPlace}, bid_price) AS MATERIALIZED (
  SELECT ${place}, ${acceptedBidPrice('trade', punks)} FROM unpriced AS trade)`,
    ],
    join: sql`LEFT JOIN bids ON ${joinSql(isSamePlace, ' AND ')}`,
    price: sql`coalesce(trade.price, bids.bid_price)`,
  };
}

const PLACE = namesOf(nftTrades, ['tokenAddress', 'blockNumber', 'transactionIndex', 'logIndex', 'item']);

/**
 * The last bid before the sale, if the buyer's and not withdrawn: one row of a range scan, as a
 * punk has one bid at a time. Null while its block is not indexed.
 * @param trade alias of a row of `nft_trades`
 */
export function acceptedBidPrice(trade: string, contract?: Sql): Sql {
  const sold = columnsAs(nftTrades, trade);
  return sql`(SELECT CASE WHEN bid.entered AND bid.bidder = ${sold.buyer} THEN bid.value END
  FROM punk_bids AS bid
  WHERE bid.token_address = ${contract ?? sold.tokenAddress} AND bid.chain_id = ${sold.chainId} AND bid.token_id = ${sold.tokenId}
    AND (bid.block_number, bid.transaction_index, bid.log_index)
      < (${sold.blockNumber}, ${sold.transactionIndex}, ${sold.logIndex})
  ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC
  LIMIT 1)`;
}
