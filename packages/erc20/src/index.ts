/**
 * ERC-20 transfers: their dataset, and the routes of a wallet's and of a token's transfers. Start reading at `dataset.ts` (logs to rows), then
 * `get-wallet-token-transfers.ts` (rows to a page).
 */
export { tokenFactsRoutes } from './token-facts/token-facts-routes.ts';
export { erc20Transfers } from './transfers/dataset.ts';
export {
  getWalletTokenTransfers,
  type TransferKey,
  type WalletTransfersQuery,
} from './transfers/get-wallet-token-transfers.ts';
export { createTokenStatsRoute } from './transfers/token-stats/token-stats-route.ts';
export { createTokenTransfersRoute } from './transfers/token-transfers/token-transfers-route.ts';
export { walletTokenTransfersRoute } from './transfers/wallet-token-transfers-route.ts';
export { walletTransfersStatement } from './transfers/wallet-transfers-statement.ts';
