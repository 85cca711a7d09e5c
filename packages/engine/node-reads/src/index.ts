/** Start reading at `queue/node-read-queue.ts`, `queue/state-worker.ts` and `state-at.ts`. */
export { accountCodesReader } from './account-codes/account-codes.ts';
export { isUnread, settleTogether } from './calls/call-together.ts';
export { type CalledState, type ContractCalls, createContractCalls } from './calls/contract-calls.ts';
export { type HashPlace, hashPlacesReader, placeOfHash } from './hash-places/hash-places.ts';
export { nativeBalanceRoutes } from './native-balances/native-balance-routes.ts';
export { nativeBalancesReader, storedNativeBalances } from './native-balances/stored-native-balances.ts';
export { createNodeReadQueue } from './queue/node-read-queue.ts';
export { DUE_QUESTIONS } from './queue/question-rows.ts';
export { addStateReads } from './queue/state-worker.ts';
export type { BlockToRead } from './read-at-block.ts';
export { type AccountMethod, type StateAt, stateAt } from './state-at.ts';
export type { StateKind, StateReader, StateReadingContext } from './state-kind.ts';
export { transactionFactsReader } from './transaction-facts/transaction-facts.ts';
