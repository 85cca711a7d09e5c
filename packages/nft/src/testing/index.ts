/** For tests of other packages: NFT trades as the sync engine would write them. */
export { seedTrades } from '../trades/testing/seeded-trades.ts';
