/** Stored quotes: pages import them without the reading of feeds. */
export { dollarsOf } from './ether-price.ts';
export { etherQuotes, hasEtherQuotes, readEtherPrices, readEtherQuote } from './ether-quote.ts';
export { readFeedSteps } from './feeds/feed-steps.ts';
