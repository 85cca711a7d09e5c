/**
 * Decentralized exchanges: events of their pools, and proofs that a pool belongs to an exchange. Decoding is pure, and no log
 * causes an error. Start with `events/decode-pool-event.ts` and `exchanges/families.ts`.
 */
export { anchorsOf, wrappedNativeOf } from './anchors/anchors-of-chain.ts';
export type { ConcentratedState, Reserves } from './events/pool-event.ts';
export { EXCHANGE_FAMILIES, exchangesOf, findExchangeProblem } from './exchanges/custom-exchanges.ts';
export { DOLLAR } from './candles/candle.ts';
export { pairOf } from './candles/price-trade.ts';
export { marketRoutes } from './market-routes.ts';
export { poolLookupsReader } from './pool-readings/lookup-reader.ts';
export { requestPoolLookups, tokensToLookUp } from './pool-readings/request-lookups.ts';
export { PRICED_FAMILIES } from './pool-readings/state-getters.ts';
export { priceOf } from './pools/pool-price.ts';
export { DUE_POOLS, POOL_WORK } from './proofs/pool-rows.ts';
export { addPoolProofs } from './proofs/pool-worker.ts';
export { factoriesOf } from './swap-lists/exchange-names.ts';
export { getPairOfTokens, type PairOfTokens, type TokenRecord } from './swap-lists/get-pair-state.ts';
export { getPoolPrice } from './swap-lists/get-pool-price.ts';
export { PAIR_NOT_FOUND } from './swap-lists/pair-parameter.ts';
export { formsOf, undecidedPoolsOf } from './swap-lists/swaps-statement.ts';
export { type FiguredPool, readTradeFigures, type TimeSpan } from './trade-figures/read-trade-figures.ts';
export { figuresOf, joinFigures, NO_TRADES, type TradeFigures } from './trade-figures/trade-figures.ts';
