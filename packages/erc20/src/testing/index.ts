/** For tests and benchmarks of other packages: ERC-20 transfers as the sync engine would write them, and what the worker keeps of readings. */
export { saveReadings } from '../balances/save-readings.ts';
export { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
