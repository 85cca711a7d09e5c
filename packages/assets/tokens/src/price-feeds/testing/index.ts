/** For tests of other packages: prices as the sync engine would write them. */
export { seedAnswers, seedReadings } from './seeded-prices.ts';
