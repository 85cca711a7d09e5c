/**
 * Token metadata: what token contracts say of themselves, what imported lists say of them, and the worker that asks.
 * Start reading at `token-metadata.ts`, then `token-metadata-worker.ts`.
 */
export { cleanText, decodeFlag, decodeRawText, decodeText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from './abi-text.ts';
export { type ContractCalls, createContractCalls } from './contract-calls.ts';
export { INTERFACES, supportsInterface } from './erc165.ts';
export { saveTokenMetadata } from './pending-metadata.ts';
export { refreshTokens } from './refresh-tokens.ts';
export { createTokenMetadataReader, type TokenMetadataReader } from './token-metadata.ts';
export { createTokenMetadataWorker } from './token-metadata-worker.ts';
