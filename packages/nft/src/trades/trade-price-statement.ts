import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Bind } from '@chainstead/db';
import { acceptedBidPrice } from './accepted-bid-price.ts';
import { bindAddress } from './trade-conditions.ts';

/**
 * The price of a trade in SQL: the row's own, or for an accepted Punk bid the bid's, null while that is not known. The bid is
 * looked up only where the row has none.
 * @param trade alias of a row of `nft_trades`
 */
export function tradePrice(trade: string): string {
  return `coalesce(${trade}.price, ${acceptedBidPrice(trade)})`;
}

/** How the price of a `trade` is told. */
export interface Priced {
  readonly ctes: readonly string[];
  /** What follows the table of trades. */
  readonly join: string;
  readonly price: string;
}

/** By a look-up for each that has none of its own. */
export const BY_BIDS: Priced = { ctes: [], join: '', price: tradePrice('trade') };

/**
 * Where tables are distributed: trades and bids lie on different nodes, so that accepted bids for Punks are told before.
 * @param of whose trades: a collection's, or a wallet's
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
      // Names of their own: those of trades are not qualified everywhere.
      `bids(${PLACE.map((column) => `bid_${column}`).join(', ')}, bid_price) AS MATERIALIZED (
  SELECT ${place}, ${acceptedBidPrice('trade', punks.bytes)} FROM unpriced AS trade)`,
    ],
    join: `LEFT JOIN bids ON ${PLACE.map((column) => `bids.bid_${column} = trade.${column}`).join(' AND ')}`,
    price: 'coalesce(trade.price, bids.bid_price)',
  };
}

const PLACE = ['token_address', 'block_number', 'transaction_index', 'log_index', 'item'];
