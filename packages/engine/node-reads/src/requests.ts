/** For requests: without what reads from nodes. */
export { fetchInParts, type ReadingContext } from './calls/fetch-in-parts.ts';
export { committedBlock, knownBlock, newestKnownBlocks, type StateBlock } from './committed-block.ts';
export type { AskOptions, NodeReadQueue } from './queue/node-read-queue.ts';
export { recentAnswer } from './queue/question-rows.ts';
export { SILENCE_MS, StateNotArchivedError, StateUnavailableError, unlessUnavailable } from './state-error.ts';
export { transactionFactsOf } from './transaction-facts/transaction-facts.ts';
