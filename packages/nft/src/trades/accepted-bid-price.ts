/**
 * SQL for what an accepted bid for a punk paid, to be read where a trade's own price is null:
 * `coalesce(trade.price, ${acceptedBidPrice('trade')})`. One range scan of `punk_bids`' primary key that stops at its first
 * row; nothing is stored, so that it makes no difference whether the sale or the bid was indexed first.
 *
 * A punk has one bid at a time: a new one replaces it. So it is the last bid before the sale, if it was the buyer's and not
 * withdrawn. Null where that bid is not known, as long as its block is not indexed.
 *
 * @param trade alias of a row of `nft_trades` in the statement around it
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
