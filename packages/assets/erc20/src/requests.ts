/** For requests of other packages: without routes and readers. */
export { erc20Approvals } from './approvals/dataset.ts';
export { slotOfHolder } from './balance-proofs/balance-slot.ts';
export type { Holding } from './balances/balance-questions.ts';
export { type BalanceSeries, readBalanceSeries } from './balances/balance-series.ts';
export { type BalanceRequestSources, requestBalances } from './balances/request-balances.ts';
export {
  type ResolvedBalance,
  type ResolvedBalances,
  resolveWalletBalances,
} from './balances/resolve-wallet-balances.ts';
export { showToken, tokenBalanceShape } from './balances/wallet-balances-response.ts';
export type { SettledOrder } from './balances/wallet-balances-statement.ts';
export { readCountedHolders } from './holders/get-known-holders.ts';
export { getTokenFacts } from './token-facts/get-token-facts.ts';
export type { ReadTokenPrices } from './token-values/token-prices.ts';
export { erc20Transfers } from './transfers/dataset.ts';
