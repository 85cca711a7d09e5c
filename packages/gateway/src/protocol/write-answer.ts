import type { RpcErrorObject } from './rpc-errors.ts';

const RESULT_HEAD = '{"jsonrpc":"2.0","id":';
const RESULT_MIDDLE = ',"result":';
const ERROR_MIDDLE = ',"error":';

/** Returns the text before a result; `}` follows the result. `id` is JSON text. */
export function resultHead(id: string): string {
  return RESULT_HEAD + id + RESULT_MIDDLE;
}

/** Returns a whole error response. `id` is JSON text. */
export function errorText(id: string, error: RpcErrorObject): string {
  return `${RESULT_HEAD}${id}${ERROR_MIDDLE}${JSON.stringify(error)}}`;
}
