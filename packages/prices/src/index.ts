/**
 * What the chain itself says of the price of ether in US dollars: answers of Chainlink's feeds, and swaps in pools with a
 * dollar token. Start reading at `ether-quote.ts`.
 */

export { dollarsOf, type EtherPrice } from './ether-price.ts';
export { createEtherPriceWorker } from './ether-price-worker.ts';
export { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';
export { seedPriceSources } from './price-sources.ts';
