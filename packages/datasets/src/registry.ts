import type { Dataset } from '@chainstead/sync';
import { erc20Transfers } from './erc20-transfers/dataset.ts';
import { feedAnswers } from './ether-price/feed-answers.ts';
import { poolPrices } from './ether-price/pool-prices.ts';
import { nftMetadataEvents } from './nft-collections/metadata-events-dataset.ts';
import { nftTrades } from './nft-trades/dataset.ts';
import { punkBids } from './nft-trades/punk-bids.ts';
import { nftTransfers } from './nft-transfers/dataset.ts';
import { nftMalformedLogs } from './nft-transfers/malformed-logs.ts';

/** Every dataset that the sync engine writes. To add one: a folder that exports a `Dataset`, and one entry here. */
export const datasets: readonly Dataset[] = [
  erc20Transfers,
  nftTransfers,
  nftMalformedLogs,
  nftTrades,
  punkBids,
  nftMetadataEvents,
  feedAnswers,
  poolPrices,
];
