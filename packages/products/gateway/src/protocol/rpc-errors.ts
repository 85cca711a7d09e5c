/** Codes: JSON-RPC 2.0, EIP-1474, and geth's where those are open. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const PARSE_ERROR: RpcErrorObject = { code: -32_700, message: 'Parse error: the body is not JSON' };
export const EMPTY_BATCH: RpcErrorObject = { code: -32_600, message: 'Invalid request: the batch is empty' };
export const BATCH_MAX = 20;
export const BATCH_TOO_LARGE: RpcErrorObject = {
  code: -32_600,
  message: `A batch may hold ${BATCH_MAX} requests`,
};
export const RATE_LIMITED: RpcErrorObject = { code: -32_005, message: 'Rate limit exceeded' };
export const TOO_MANY_BODIES: RpcErrorObject = {
  code: -32_005,
  message: 'Too many messages are being answered: try again',
};
export const TIMED_OUT: RpcErrorObject = { code: -32_002, message: 'request timed out' };
export const INTERNAL_ERROR: RpcErrorObject = { code: -32_603, message: 'Internal error' };

export function unauthorized(message: string): RpcErrorObject {
  return { code: 4_100, message };
}

export function invalidRequest(reason: string): RpcErrorObject {
  return { code: -32_600, message: `Invalid request: ${reason}` };
}

export function invalidParams(message: string): RpcErrorObject {
  return { code: -32_602, message };
}

export function chainNotOffered(message: string): RpcErrorObject {
  return { code: -32_001, message };
}

export function notSupported(method: string, slug: string): RpcErrorObject {
  return { code: -32_601, message: notSupportedText(method, slug) };
}

export function tracesOff(method: string, slug: string): RpcErrorObject {
  return { code: -32_601, message: `${notSupportedText(method, slug)}: GATEWAY_TRACES=on offers it` };
}

export function needsSocket(method: string): RpcErrorObject {
  return { code: -32_601, message: `${method} needs a WebSocket: connect to the same path with ws:// or wss://` };
}

function notSupportedText(method: string, slug: string): string {
  const name = method.length > METHOD_LENGTH_MAX ? `${method.slice(0, METHOD_LENGTH_MAX)}…` : method;
  return `${name} is not supported on chain ${slug}`;
}

/** −32603, since the same call may soon succeed. Contains no upstream name. */
export function unavailable(slug: string): RpcErrorObject {
  return { code: -32_603, message: `No upstream of ${slug} can answer at the moment: try again` };
}

export function nodeless(slug: string): RpcErrorObject {
  return { code: -32_001, message: `Chain ${slug} has no node here, only stored blocks` };
}

export function isOwnFailure(error: RpcErrorObject, slug: string): boolean {
  return error === TIMED_OUT || error === INTERNAL_ERROR || error.message === unavailable(slug).message;
}

const METHOD_LENGTH_MAX = 64;

export function resultHead(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":`;
}

export function errorText(id: string, error: RpcErrorObject): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`;
}
