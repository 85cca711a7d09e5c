/** For requests of other packages: without routes, readers and workers. */
export { type AnchorBook, type BlockTime, readAnchorBook } from './anchors/anchor-steps.ts';
export {
  anchorsOf,
  knownDecimals,
  nativeTokenOf,
  pairLabel,
  shownToken,
  wrappedNativeOf,
} from './anchors/anchors-of-chain.ts';
export {
  type BinReserves,
  type BlockBinChange,
  binsWithinTenth,
  createBinBook,
  firstUnsummedBinBlock,
  readBinChanges,
  readBinReserves,
} from './bin-reserves/read-bin-reserves.ts';
export { readSettledBlock } from './candle-storage/storable-hours.ts';
export type {
  ActiveBin,
  ConcentratedState,
  PoolEvent,
  PoolId,
  PoolState,
  Reserves,
} from './events/pool-event.ts';
export { exchangesOf } from './exchanges/custom-exchanges.ts';
export { recomputePool } from './exchanges/prove-pool.ts';
export { PRICED_FAMILIES } from './pool-readings/find-pools.ts';
export { LOOKUP_BLOCKS_MAX, requestPoolLookups, tokensToLookUp } from './pool-readings/lookup-reader.ts';
export { poolKey } from './pools/pool-creation.ts';
export {
  poolStateOf,
  priceOf,
  pricesInPool,
  STATE_COLUMNS,
  type StateColumns,
  wholePriceOf,
} from './pools/pool-price.ts';
export {
  getPairOfTokens,
  getPoolPrice,
  listPairsOfTokens,
  type PairOfTokens,
  type TokenRecord,
  withTokenRecords,
} from './swap-lists/get-pair-state.ts';
export type { ReadDirectPrices } from './swap-lists/get-swaps.ts';
export {
  EVERY_SWAP,
  factoriesOf,
  PAIR_NOT_FOUND,
  pairAddress,
  pairNotFound,
  pairParameter,
  refuseCursor,
  unknownExchange,
} from './swap-lists/pair-parameter.ts';
export { formsOf, SWAPS_DATASET, undecidedPoolsOf } from './swap-lists/swaps-page.ts';
export { readCoveredBlocks } from './swaps/dataset.ts';
export {
  type SharedFiguresQuery,
  sumTradeFigures,
  tradeFiguresReader,
} from './trade-figures/summed-figures.ts';
export { SwapsNotSummedError } from './trade-figures/swaps-not-summed-error.ts';
export { NO_TRADES, type PoolGroup, type TradeSums } from './trade-figures/trade-sums.ts';
export { DOLLAR, type FiguredPool, type TimeSpan } from './trade-values/candle.ts';
export { pairOf } from './trade-values/price-trade.ts';
export { claimTraderSums, storeTraderSums } from './trader-sums/trader-sums-projection.ts';
export { isTrade, soldToken } from './trades/trades-projection.ts';
export {
  createPoolPrincipal,
  firstUnsummedBlock,
  type ManagedPool,
  readTickLiquidity,
  type TickLiquidity,
} from './vault-liquidity/read-tick-liquidity.ts';
