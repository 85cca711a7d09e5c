/**
 * Start with `transfers/dataset.ts` (logs to rows), `transfers/wallet-transfers-page.ts`,
 * `balances/resolve-wallet-balances.ts`, `balance-proofs/prove-balance.ts`.
 */

export { allowancesReader } from './approvals/allowances-reader.ts';
export { erc20Approvals } from './approvals/dataset.ts';
export { createWalletApprovalsRoute } from './approvals/wallet-approvals-route.ts';
export { readBalanceEvidence } from './balance-proofs/balance-evidence.ts';
export { slotOfHolder } from './balance-proofs/balance-slot.ts';
export { type BalanceProof, type BalanceProver, createBalanceProver } from './balance-proofs/prove-balance.ts';
export { type BalanceSeries, readBalanceSeries } from './balances/balance-series.ts';
export { balancesProven } from './balances/balances-proven.ts';
export { tokenCodes } from './balances/check-token-codes.ts';
export type { Holding } from './balances/holding.ts';
export { balancesNow, balancesThen } from './balances/read-balances.ts';
export { type BalanceRequestSources, requestBalances } from './balances/request-balances.ts';
export {
  type ResolvedBalance,
  type ResolvedBalances,
  resolveWalletBalances,
} from './balances/resolve-wallet-balances.ts';
export { readShownBalances } from './balances/shown-balances.ts';
export { showToken, tokenBalanceShape } from './balances/wallet-balances-response.ts';
export { createWalletBalancesRoute, type WalletBalancesOptions } from './balances/wallet-balances-route.ts';
export type { SettledOrder } from './balances/wallet-balances-statement.ts';
export { balanceOfCall, readBalance } from './calls/balance-of.ts';
export { holdersCounted } from './holders/count-holders.ts';
export { readCountedHolders } from './holders/get-known-holders.ts';
export { ownersNow } from './holders/read-owners.ts';
export { tokenHolderRoutes } from './holders/token-holder-routes.ts';
export { getTokenFacts } from './token-facts/get-token-facts.ts';
export { tokenFactsRoutes } from './token-facts/token-facts-routes.ts';
export type { ReadTokenPrices } from './token-values/token-prices.ts';
export { erc20Transfers } from './transfers/dataset.ts';
export { createTokenStatsRoute } from './transfers/token-stats/token-stats-route.ts';
export { createTokenTransfersRoute } from './transfers/token-transfers/token-transfers-route.ts';
export { walletTokenTransfersRoute } from './transfers/wallet-token-transfers-route.ts';
export {
  readWalletTransfers,
  type WalletTransfersQuery,
  walletTransfersPage,
} from './transfers/wallet-transfers-page.ts';
