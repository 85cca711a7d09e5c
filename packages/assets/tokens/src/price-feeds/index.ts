/** US dollar prices from the chain: Chainlink feeds and pools. Start with `ether-quote.ts`. */
export { measureFeedAges } from './feeds/feed-age.ts';
export { ANSWER_UPDATED } from './feeds/feed-answers.ts';
export type { FeedState, FeedValue } from './feeds/feed-quotes.ts';
export { readFeedValues } from './feeds/feed-values.ts';
export { readFeedsWithValue } from './feeds/feeds-with-value.ts';
export { seedPriceSources } from './feeds/price-sources.ts';
export { createPriceFeedSchedules } from './price-feed-worker.ts';
export { feedReadingsReader, requestFeedReadings } from './readings/requested-readings.ts';
export { readValueBounds, type ValueBounds } from './readings/value-bounds.ts';
