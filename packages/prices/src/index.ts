/** Prices in US dollars from the chain: of ether, by Chainlink feeds and pools (`ether-quote.ts`), and of tokens, by proven pools (`token-price/token-price.ts`). */

export { dollarsOf } from './ether-price.ts';
export { createEtherPriceSchedules } from './ether-price-worker.ts';
export { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';
export { seedPriceSources } from './price-sources.ts';
export { tokenPriceRoute, tokenPricesRoute } from './token-price/price-routes.ts';
