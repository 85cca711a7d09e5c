/** For tests of other packages: ERC-20 transfers as written by the sync engine, and balances of a scripted chain. */
export { ALICE, BOB, nameInList } from '../balances/testing/balance-stage.ts';
export { type BalancesApi, openBalancesApi } from '../balances/testing/balances-api.ts';
export type { Move } from '../balances/testing/token-chain.ts';
export { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
