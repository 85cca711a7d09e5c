import type { RpcErrorObject } from '../call.ts';

const RESULT_HEAD = '{"jsonrpc":"2.0","id":';
const RESULT_MIDDLE = ',"result":';
const ERROR_MIDDLE = ',"error":';

/** What stands before a result; `}` stands behind it. `id` is JSON text. */
export function resultHead(id: string): string {
  return RESULT_HEAD + id + RESULT_MIDDLE;
}

/** A whole error answer. `id` is JSON text. */
export function errorText(id: string, error: RpcErrorObject): string {
  return `${RESULT_HEAD}${id}${ERROR_MIDDLE}${JSON.stringify(error)}}`;
}
