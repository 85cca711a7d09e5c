/** For tests of other packages: ERC-20 transfers as written by the sync engine. */
export { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
