/**
 * Token metadata: what token contracts say of themselves, what imported lists say of them, and the worker that asks.
 * Start reading at `facts.ts`, then `token-facts-worker.ts`.
 */
export { cleanText, decodeFlag, decodeRawText, decodeText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from './abi-text.ts';
export { type ContractCalls, createContractCalls } from './contract-calls.ts';
export { INTERFACES, supportsInterface } from './erc165.ts';
export { createTokenFactsReader, type TokenFactsReader } from './facts.ts';
export { saveTokenFacts } from './pending-facts.ts';
export { refreshTokens } from './refresh-tokens.ts';
export { createTokenFactsWorker } from './token-facts-worker.ts';
