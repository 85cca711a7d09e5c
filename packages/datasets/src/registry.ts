import { erc20Approvals, erc20Transfers, wrappedCoinMoves } from '@chainstead/erc20/datasets';
import { nftMalformedLogs, nftMetadataEvents, nftTrades, nftTransfers, punkBids } from '@chainstead/nft/datasets';
import { feedAnswers, poolPrices } from '@chainstead/prices/datasets';
import type { Dataset } from '@chainstead/sync';
import {
  accountTransactions,
  blockHeaders,
  internalTransfers,
  logs,
  transactions,
} from '@chainstead/transactions/datasets';

/** Every dataset that the sync engine writes. To add one: a folder that exports a `Dataset`, and one entry here. */
export const datasets: readonly Dataset[] = [
  erc20Transfers,
  erc20Approvals,
  wrappedCoinMoves,
  nftTransfers,
  nftMalformedLogs,
  nftTrades,
  punkBids,
  nftMetadataEvents,
  feedAnswers,
  poolPrices,
  transactions,
  accountTransactions,
  blockHeaders,
  logs,
  internalTransfers,
];
