/** Prices of tokens in US dollars, from proven pools and price feeds. Start with `token-price/token-price.ts`. */

export { createPriceRoutes } from './price-routes.ts';
export { readExplainedPrice } from './token-price/explained-price.ts';
export type { PriceExplanation } from './token-price/price-explanation.ts';
export type { ShownTokenPrice } from './token-price/price-response.ts';
export { createTokenPriceReader } from './wallet-tokens/token-price-reader.ts';
export { createWalletValueRoutes } from './wallet-tokens/wallet-value-routes.ts';
