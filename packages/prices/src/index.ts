/** Prices of tokens in US dollars, from proven pools and price feeds. Start with `token-price/token-price.ts`. */

export { createPriceRoutes } from './price-routes.ts';
export { createWalletValueRoutes } from './wallet-tokens/wallet-value-routes.ts';
