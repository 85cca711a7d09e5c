/** Token metadata, from contracts and imported lists. Start with `token-metadata.ts`. */

export { tokenCreationReader } from './facts/token-creation-reader.ts';
export { tokenFactsReader } from './facts/token-facts-reader.ts';
export { saveTokenMetadata, TOKEN_FACTS } from './pending-metadata.ts';
export { applyReviews, isCalledSpam, type ReviewSelection, readReviews } from './reviews/apply-reviews.ts';
export { reviewContractsRoute } from './reviews/review-contracts-route.ts';
export { readSeenContracts } from './seen-contracts.ts';
export {
  createTokenMetadataReader,
  INTERFACES,
  supportsInterface,
  type TokenMetadataReader,
} from './token-metadata.ts';
export { addTokenFacts } from './token-metadata-worker.ts';
