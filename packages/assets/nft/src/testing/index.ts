/** For tests of other packages: NFT transfers, trades and metadata as the sync engine and workers write them. */
export { seedMetadata } from '../records/testing/seeded-tokens.ts';
export { MANY_SALES, seedManyTrades } from '../trades/testing/many-trades.ts';
export {
  COLLECTION as MANY_COLLECTION,
  seedDatasetCoverage,
  seedTrades,
} from '../trades/testing/seeded-trades.ts';
export { seedMoves } from '../transfer-lists/testing/seeded-moves.ts';
export { keepAllWallets } from '../transfers/testing/keep-wallets.ts';
