/** Prices of tokens in US dollars, from proven pools and price feeds. Start with `token-price/token-price.ts`. */

export type { ValuedPool } from './pool-values/pool-values.ts';
export { type ReadPoolValues, readPoolValues } from './pool-values/read-pool-values.ts';
export { priceEvidenceReader } from './price-proof/evidence-reader.ts';
export { readExplainedPrice } from './price-proof/explained-price.ts';
export { type VerifiedPrice, verifyPrice } from './price-proof/verify-price.ts';
export { createPriceRoutes } from './price-routes.ts';
export { readTokenStates, type TokenState } from './token-markets/token-state.ts';
export { readTradedPools } from './token-markets/traded-pools.ts';
export type { PriceExplanation } from './token-price/price-explanation.ts';
export { type PricePlace, readPlace, STATES_DATASET } from './token-price/price-place.ts';
export { errorOf } from './token-price/price-refusals.ts';
export type { ShownTokenPrice } from './token-price/price-response.ts';
export { type PriceSources, readNativePrice, startPriceSources } from './token-price/prices-with-balances.ts';
export { changeBetween, plainDecimal } from './token-price/shown-values.ts';
export { createTokenPriceReader } from './wallet-tokens/token-price-reader.ts';
export { createWalletValueRoutes } from './wallet-tokens/wallet-value-routes.ts';
