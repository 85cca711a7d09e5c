/**
 * Start with `transfers/dataset.ts` (logs to rows), `transfers/wallet-transfers-page.ts`,
 * `balances/resolve-wallet-balances.ts`, `balance-proofs/prove-balance.ts`.
 */

export { allowancesReader } from './approvals/allowances.ts';
export { createWalletApprovalsRoute } from './approvals/wallet-approvals-route.ts';
export { type BalanceProof, type BalanceProver, createBalanceProver } from './balance-proofs/prove-balance.ts';
export { tokenCodes } from './balances/check-token-codes.ts';
export { balancesNow, balancesProven, balancesThen } from './balances/read-balances.ts';
export { readShownBalances } from './balances/shown-balances.ts';
export { createWalletBalancesRoute, type WalletBalancesOptions } from './balances/wallet-balances-route.ts';
export { balanceOfCall, readBalance } from './calls/fetch-balances.ts';
export { holdersCounted, ownersNow } from './holders/count-holders.ts';
export { tokenHolderRoutes } from './holders/token-holder-routes.ts';
export { tokenFactsRoutes } from './token-facts/token-facts-routes.ts';
export { createTokenStatsRoute } from './transfers/token-stats/token-stats-route.ts';
export { tokenTransfersRoute } from './transfers/token-transfers/token-transfers-route.ts';
export {
  readWalletTransfers,
  type WalletTransfersQuery,
  walletTokenTransfersRoute,
  walletTransfersPage,
} from './transfers/wallet-transfers-page.ts';
