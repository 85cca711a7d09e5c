import type { RpcErrorObject } from './rpc-errors.ts';

export function resultHead(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":`;
}

export function errorText(id: string, error: RpcErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}
