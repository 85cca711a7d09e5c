/** The `error` member of a JSON-RPC answer. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** JSON text in parts, written to the socket as they are: what was serialised once is never serialised again. */
export type JsonPieces = readonly (string | Uint8Array)[];

/** Reply of a method: a value, JSON text that is ready, or an error with the HTTP status that some providers send with it. */
export type RpcReply =
  | { readonly result: unknown }
  | { readonly json: JsonPieces }
  | { readonly error: RpcErrorBody; readonly httpStatus?: number };

/** One JSON-RPC method. Must not throw: a throw is answered as -32603 with its message. */
export type RpcHandler = (params: readonly unknown[]) => RpcReply | Promise<RpcReply>;

export function rpcError(code: number, message: string, data?: unknown): RpcReply {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

/** The whole response to one call. */
export function envelope(id: unknown, reply: RpcReply): JsonPieces {
  const start = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`;
  if ('error' in reply) return [`${start}"error":${JSON.stringify(reply.error)}}`];
  if ('json' in reply) return [`${start}"result":`, ...reply.json, '}'];
  return [`${start}"result":${JSON.stringify(reply.result ?? null)}}`];
}
