import { acceptedBidPrice } from './accepted-bid-price.ts';

/**
 * The price of a trade in SQL: the row's own, or for an accepted Punk bid the bid's, null while that is not known. The bid is
 * looked up only where the row has none.
 * @param trade alias of a row of `nft_trades`
 */
export function tradePrice(trade: string): string {
  return `coalesce(${trade}.price, ${acceptedBidPrice(trade)})`;
}
