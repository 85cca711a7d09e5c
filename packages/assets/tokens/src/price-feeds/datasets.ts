/** Separate: workers that only fill datasets start faster without the routes. */
export { feedAnswers } from './feeds/feed-answers.ts';
export { poolPrices } from './pool-prices.ts';
