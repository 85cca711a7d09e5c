import type { Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync';
import { parseAbiItem } from 'abitype';
import { eventArguments, lowerCase, topicOf } from './event-arguments.ts';
import { type PunkBidRow, punkBids as table } from './schema.ts';

const BID_ENTERED = parseAbiItem(
  'event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)',
);
const BID_WITHDRAWN = parseAbiItem(
  'event PunkBidWithdrawn(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)',
);

/** The price of an accepted bid, whose event has none (trade-price-statement.ts). */
export const punkBids: Dataset<PunkBidRow> = {
  name: 'punk-bids',
  topics: (chain) => (chain.cryptoPunks === null || !chain.nftTrades ? [] : [BID_ENTERED, BID_WITHDRAWN].map(topicOf)),
  table: defineTable(table),
  decode,
};

function decode(logs: readonly Log[], { chain }: DecodeContext): PunkBidRow[] {
  if (chain.cryptoPunks === null || !chain.nftTrades) return [];
  const rows: PunkBidRow[] = [];
  for (const log of logs) {
    if (log.address !== chain.cryptoPunks) continue;
    const entered = eventArguments(BID_ENTERED, log);
    const bid = entered ?? eventArguments(BID_WITHDRAWN, log);
    if (bid === null) continue;
    rows.push({
      tokenAddress: log.address,
      chainId: chain.id,
      tokenId: bid.punkIndex.toString(),
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      bidder: lowerCase(bid.fromAddress),
      value: bid.value.toString(),
      entered: entered !== null,
    });
  }
  return rows;
}
