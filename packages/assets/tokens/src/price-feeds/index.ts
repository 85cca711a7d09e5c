/** US dollar prices from the chain: Chainlink feeds and pools. Start with `ether-quote.ts`. */
export { measureFeedAges } from './feeds/feed-age.ts';
export { ANSWER_UPDATED } from './feeds/feed-answers.ts';
export type { FeedState, FeedValue } from './feeds/feed-quotes.ts';
export { readFeedValues } from './feeds/feed-steps.ts';
export { readFeedsWithValue, seedPriceSources } from './feeds/price-sources.ts';
export { createPriceFeedSchedules } from './price-feed-worker.ts';
export { readValueBounds, type ValueBounds } from './readings/read-feeds.ts';
export { feedReadingsReader, requestFeedReadings } from './readings/requested-readings.ts';
