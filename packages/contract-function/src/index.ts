/**
 * Functions of contracts, called for a client that brings their ABI. Start reading at `contract-function-route.ts`.
 */
export { contractFunctionRoute } from './contract-function-route.ts';
export { tokenAllowanceRoute } from './token-allowance-route.ts';
