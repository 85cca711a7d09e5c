/** Contract calls with a client's ABI. Start reading at `contract-function-route.ts`. */
export { contractFunctionRoute } from './contract-function-route.ts';
export { tokenAllowanceRoute } from './token-allowance-route.ts';
