/** Contract calls with an ABI from the client. Start reading at `contract-function-route.ts`. */
export { contractFunctionRoute } from './contract-function-route.ts';
export { tokenAllowanceRoute } from './token-allowance-route.ts';
