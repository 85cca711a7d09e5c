import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind } from '@chainstead/db';
import { bindAddress } from './trade-conditions.ts';

/**
 * Returns the price of a trade in SQL: its own, or that of an accepted Punk bid; null while unknown. The bid is looked
 * up only if the row has no price.
 * @param trade alias of a row of `nft_trades`
 */
export function tradePrice(trade: string): string {
  return `coalesce(${trade}.price, ${acceptedBidPrice(trade)})`;
}

/** How the price of a `trade` is found. */
export interface Priced {
  readonly ctes: readonly string[];
  /** SQL after the table of trades. */
  readonly join: string;
  readonly price: string;
}

/** By a lookup for each row without its own price. */
export const BY_BIDS: Priced = { ctes: [], join: '', price: tradePrice('trade') };

/**
 * For distributed tables: trades and bids are on different nodes, so accepted Punk bids are read first.
 * @param of the subject of the trades: a collection, or a wallet
 */
export function pricedBefore(
  { cryptoPunks }: Chain,
  chainId: string,
  of: { readonly collection: Address } | { readonly wallet: Address },
  bind: Bind,
): Priced {
  if (cryptoPunks === null || ('collection' in of && of.collection !== cryptoPunks))
    return { ctes: [], join: '', price: 'trade.price' };
  const punks = bindAddress(cryptoPunks, bind);
  const own = 'wallet' in of ? ` AND ${bind(addressBytes(of.wallet))}::bytea IN (trade.seller, trade.buyer)` : '';
  const place = PLACE.map((column) => `trade.${column}`).join(', ');
  return {
    ctes: [
      `unpriced AS MATERIALIZED (
  SELECT trade.chain_id, trade.token_id, trade.buyer, ${place} FROM nft_trades AS trade
  WHERE trade.collection_key = ${punks.key} AND trade.token_address = ${punks.bytes} AND trade.chain_id = ${chainId} AND trade.price IS NULL${own})`,
      // Separate names: columns of trades are not qualified everywhere.
      `bids(${PLACE.map((column) => `bid_${column}`).join(', ')}, bid_price) AS MATERIALIZED (
  SELECT ${place}, ${acceptedBidPrice('trade', punks.bytes)} FROM unpriced AS trade)`,
    ],
    join: `LEFT JOIN bids ON ${PLACE.map((column) => `bids.bid_${column} = trade.${column}`).join(' AND ')}`,
    price: 'coalesce(trade.price, bids.bid_price)',
  };
}

const PLACE = ['token_address', 'block_number', 'transaction_index', 'log_index', 'item'];

/**
 * Returns SQL for the amount of an accepted Punk bid, for trades whose own price is null: `coalesce(trade.price,
 * ${acceptedBidPrice('trade')})`. It is one range scan of `punk_bids`' primary key that stops at its first row. Nothing
 * is stored, so it does not matter whether the sale or the bid was indexed first.
 *
 * A punk has one bid at a time, which a new one replaces. The accepted bid is therefore the last one before the sale,
 * if it was the buyer's and not withdrawn. Null while its block is not indexed.
 *
 * @param trade alias of a row of `nft_trades` in the enclosing statement
 * @param contract SQL of its contract
 */
export function acceptedBidPrice(trade: string, contract = `${trade}.token_address`): string {
  return `(SELECT CASE WHEN bid.entered AND bid.bidder = ${trade}.buyer THEN bid.value END
  FROM punk_bids AS bid
  WHERE bid.token_address = ${contract} AND bid.chain_id = ${trade}.chain_id AND bid.token_id = ${trade}.token_id
    AND (bid.block_number, bid.transaction_index, bid.log_index)
      < (${trade}.block_number, ${trade}.transaction_index, ${trade}.log_index)
  ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC
  LIMIT 1)`;
}
