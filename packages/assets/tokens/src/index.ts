/** Token metadata, from contracts and imported lists. Start with `token-metadata.ts`. */
export { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK } from './changed-decimals.ts';
export { INTERFACES, supportsInterface } from './erc165.ts';
export { seekTokenCreations, tokenCreationReader } from './facts/token-creation.ts';
export { readTokenFacts } from './facts/token-facts-question.ts';
export { tokenFactsReader } from './facts/token-facts-reader.ts';
export { saveTokenMetadata, TOKEN_FACTS } from './pending-metadata.ts';
export { refreshTokens } from './refresh-tokens.ts';
export { noteAnnouncements, requestTokenFacts, rollBackAnnouncements } from './request-token-facts.ts';
export { applyReviews } from './reviews/apply-reviews.ts';
export { isCalledSpam, type ReviewSelection, readReviews } from './reviews/read-reviews.ts';
export { reviewContractsRoute } from './reviews/review-contracts-route.ts';
export { readSeenContracts } from './seen-contracts.ts';
export { createTokenMetadataReader, type TokenMetadataReader } from './token-metadata.ts';
export { addTokenFacts } from './token-metadata-worker.ts';
