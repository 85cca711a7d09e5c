/**
 * What chains say of accounts, contracts and transactions at a block, read by the worker role because a request asked. Start reading at
 * `state-questions.ts` (the side of requests), `state-worker.ts` (the side of workers) and `state-at.ts` (one block's state).
 */
export { accountCodesReader, createHasCodeOf, hasCodeOf } from './account-codes/account-codes.ts';
export { askInParts, type ReadingContext } from './ask-in-parts.ts';
export { committedBlock, knownBlock, newestKnownBlocks, type StateBlock } from './committed-block.ts';
export { type ContractCalls, createContractCalls } from './contract-calls.ts';
export { type HashPlace, hashPlacesReader, placeOfHash } from './hash-places/hash-places.ts';
export { getNativeBalances, type NativeBalancesOptions } from './native-balances/get-native-balances.ts';
export { nativeBalanceRoutes } from './native-balances/native-balance-routes.ts';
export { nativeBalancesReader } from './native-balances/native-balances-reader.ts';
export { storedNativeBalances } from './native-balances/stored-native-balances.ts';
export type { BlockToRead } from './read-at-block.ts';
export { recentAnswer } from './recent-answer.ts';
export { isUnread, settleTogether } from './settle-together.ts';
export { type AccountMethod, type StateAt, stateAt } from './state-at.ts';
export { StateNotArchivedError, StateUnavailableError } from './state-error.ts';
export type { StateKind, StateReader, StateReadingContext } from './state-kind.ts';
export { type AskOptions, createStateQuestions, SILENCE_MS, type StateQuestions } from './state-questions.ts';
export { createStateWorker } from './state-worker.ts';
export { transactionFactsOf, transactionFactsReader } from './transaction-facts/transaction-facts.ts';
