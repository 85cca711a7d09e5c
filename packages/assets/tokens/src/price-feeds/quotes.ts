/** Stored quotes: pages import them without the reading of feeds. */
export { dollarsOf } from './ether-price.ts';
export { readEtherPrices } from './ether-prices-of-blocks.ts';
export { etherQuotes, hasEtherQuotes, readEtherQuote } from './ether-quote.ts';
export { readFeedSteps } from './feeds/feed-steps.ts';
