/** Prices of ether in US dollars from the chain: Chainlink feeds, and swaps of pools with a dollar token. Start with `ether-quote.ts`. */
export { dollarsOf } from './ether-price.ts';
export { createEtherPriceSchedules } from './ether-price-worker.ts';
export { readEtherPrices } from './ether-prices-of-blocks.ts';
export { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';
export { seedPriceSources } from './price-sources.ts';
