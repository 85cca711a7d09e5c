/** Prices of tokens in US dollars. Start with `token-price/read/token-price.ts`. */

export type { ValuedPool } from './pool-values/pool-values.ts';
export { type ReadPoolValues, readPoolValues } from './pool-values/read-pool-values.ts';
export { priceEvidenceReader } from './price-proof/evidence-reader.ts';
export { readExplainedPrice } from './price-proof/explained-price.ts';
export { PriceUnprovenError } from './price-proof/proof-error.ts';
export { type VerifiedPrice, verifyPrice } from './price-proof/verify-price.ts';
export { createPriceRoutes } from './price-routes.ts';
export { readTokenStates, type TokenState } from './token-markets/token-state.ts';
export { readTradedPools } from './token-markets/traded-pools.ts';
export { type PricePlace, readPlace, STATES_DATASET } from './token-price/place/price-place.ts';
export { createDirectPriceReader } from './token-price/read/direct-price-reader.ts';
export {
  type PriceSources,
  readNativePrice,
  startPriceSources,
} from './token-price/read/prices-with-balances.ts';
export type { PriceExplanation } from './token-price/serve/price-explanation.ts';
export { errorOf } from './token-price/serve/price-refusals.ts';
export type { ShownTokenPrice } from './token-price/serve/price-response.ts';
export { changeBetween, plainDecimal } from './token-price/serve/shown-values.ts';
export { createTokenPriceReader } from './wallet-tokens/token-price-reader.ts';
export { createWalletValueRoutes } from './wallet-tokens/wallet-value-routes.ts';
