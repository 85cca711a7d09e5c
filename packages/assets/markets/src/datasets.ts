export { binChanges } from './bin-reserves/dataset.ts';
export { candlesOfFeeds } from './pool-candles/candles-projection.ts';
export { poolCreations } from './pool-creations/dataset.ts';
export { poolStates } from './pool-states/dataset.ts';
export { swaps } from './swaps/dataset.ts';
export { traderSumsOfFeeds, traderSumsOfPoolPrices } from './trader-sums/trader-sums-projection.ts';
