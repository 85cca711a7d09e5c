/** For tests of other packages: ERC-20 transfers as the sync engine writes them. */
export { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
