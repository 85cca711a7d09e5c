/** For requests and rows: without what reads from nodes. */

export { seekTokenCreations } from './facts/token-creation-reader.ts';
export {
  noteAnnouncements,
  readTokenFacts,
  requestTokenFacts,
  rollBackAnnouncements,
} from './facts/token-facts-reader.ts';
export { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK } from './pending-metadata.ts';
