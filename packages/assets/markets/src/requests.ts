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
export { binsWithinTenth, createBinBook } from './bin-reserves/near-bins.ts';
export {
  type BinReserves,
  type BlockBinChange,
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
export { LOOKUP_BLOCKS_MAX, requestPoolLookups, tokensToLookUp } from './pool-readings/request-lookups.ts';
export { PRICED_FAMILIES } from './pool-readings/state-getters.ts';
export { poolKey } from './pools/pool-key.ts';
export { priceOf } from './pools/pool-price.ts';
export { pricesInPool, wholePriceOf } from './pools/prices-in-pool.ts';
export { poolStateOf, STATE_COLUMNS, type StateColumns } from './pools/stored-state.ts';
export type { ReadDirectPrices } from './swap-lists/direct-prices.ts';
export { EVERY_SWAP } from './swap-lists/every-swap.ts';
export { factoriesOf, unknownExchange } from './swap-lists/exchange-names.ts';
export {
  getPairOfTokens,
  listPairsOfTokens,
  type PairOfTokens,
  type TokenRecord,
  withTokenRecords,
} from './swap-lists/get-pair-state.ts';
export { getPoolPrice } from './swap-lists/get-pool-price.ts';
export { PAIR_NOT_FOUND, pairNotFound, pairParameter } from './swap-lists/pair-parameter.ts';
export { refuseCursor } from './swap-lists/refuse-cursor.ts';
export { formsOf, SWAPS_DATASET, undecidedPoolsOf } from './swap-lists/swaps-page.ts';
export { readCoveredBlocks } from './swaps/covered-blocks.ts';
export {
  type SharedFiguresQuery,
  sumTradeFigures,
  tradeFiguresReader,
} from './trade-figures/summed-figures.ts';
export { SwapsNotSummedError } from './trade-figures/swaps-not-summed-error.ts';
export { NO_TRADES, type PoolGroup, type TradeSums } from './trade-figures/trade-sums.ts';
export { DOLLAR } from './trade-values/candle.ts';
export type { FiguredPool, TimeSpan } from './trade-values/figured-pool.ts';
export { pairOf } from './trade-values/price-trade.ts';
export { claimTraderSums, storeTraderSums } from './trader-sums/trader-sums-record.ts';
export { isTrade, soldToken } from './trades/trade-direction.ts';
export { createPoolPrincipal } from './vault-liquidity/pool-principal.ts';
export type { ManagedPool } from './vault-liquidity/read-tick-liquidity.ts';
export {
  firstUnsummedBlock,
  readTickLiquidity,
  type TickLiquidity,
} from './vault-liquidity/read-tick-liquidity.ts';
