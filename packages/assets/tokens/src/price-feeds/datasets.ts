/** The datasets alone: who only fills them loads no routes, and starts in two thirds of the time. */
export { feedAnswers } from './feeds/feed-answers.ts';
export { poolPrices } from './pool-prices.ts';
