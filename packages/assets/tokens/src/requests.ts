/** For requests and rows: without what reads from nodes. */
export { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK } from './changed-decimals.ts';
export { noteAnnouncements, requestTokenFacts, rollBackAnnouncements } from './facts/request-token-facts.ts';
export { seekTokenCreations } from './facts/token-creation-question.ts';
export { readTokenFacts } from './facts/token-facts-question.ts';
