import { erc20Approvals, erc20Transfers, wrappedCoinMoves } from '@chainstead/erc20/datasets';
import {
  binChanges,
  candlesOfFeeds,
  poolCreations,
  poolStates,
  swaps,
  traderSumsOfFeeds,
  traderSumsOfPoolPrices,
} from '@chainstead/markets/datasets';
import { nftMalformedLogs, nftMetadataEvents, nftTrades, nftTransfers, punkBids } from '@chainstead/nft/datasets';
import type { Dataset } from '@chainstead/sync/datasets';
import { feedAnswers, poolPrices } from '@chainstead/tokens/price-feeds/datasets';
import {
  accountTransactions,
  blockHeaders,
  internalTransfers,
  logs,
  transactions,
} from '@chainstead/transactions/datasets';
import { erc4626Vaults } from './erc4626-vaults/dataset.ts';

const pricedFeedAnswers: Dataset = {
  ...feedAnswers,
  projections: [...(feedAnswers.projections ?? []), candlesOfFeeds, traderSumsOfFeeds],
};
const pricedPoolPrices: Dataset = {
  ...poolPrices,
  projections: [...(poolPrices.projections ?? []), traderSumsOfPoolPrices],
};

export const datasets: readonly Dataset[] = [
  erc20Transfers,
  erc20Approvals,
  wrappedCoinMoves,
  nftTransfers,
  nftMalformedLogs,
  nftTrades,
  punkBids,
  nftMetadataEvents,
  pricedFeedAnswers,
  pricedPoolPrices,
  poolCreations,
  swaps,
  poolStates,
  binChanges,
  transactions,
  accountTransactions,
  blockHeaders,
  logs,
  internalTransfers,
  erc4626Vaults,
];
