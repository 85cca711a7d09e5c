/** Prices of tokens in US dollars. Start with `token-price/read/token-price.ts`. */

export { findTokens } from './market-statistics/token-search/search-statement.ts';
export { priceEvidenceReader } from './price-proof/evidence-kind.ts';
export { PriceUnprovenError } from './price-proof/proof-error.ts';
export { readExplainedPrice } from './price-proof/prove-price.ts';
export { type VerifiedPrice, verifyPrice } from './price-proof/verify-price.ts';
export { createPriceRoutes } from './price-routes.ts';
export { createDirectPriceReader } from './token-price/read/prices-with-balances.ts';
export type { PriceExplanation } from './token-price/serve/price-explanation.ts';
export { type ShownTokenPrice, tokenPriceView } from './token-price/serve/price-response.ts';
export { createTokenPriceReader } from './wallet-tokens/token-price-reader.ts';
export { createWalletValueRoutes } from './wallet-tokens/wallet-value-routes.ts';
