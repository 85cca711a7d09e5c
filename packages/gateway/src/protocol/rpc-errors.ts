/** Errors that the gateway itself answers with. Codes: JSON-RPC 2.0, EIP-1474, and geth's for what those leave open. */
import type { RpcErrorObject } from '../call.ts';

export const PARSE_ERROR: RpcErrorObject = { code: -32_700, message: 'Parse error: the body is not JSON' };
export const EMPTY_BATCH: RpcErrorObject = { code: -32_600, message: 'Invalid request: the batch is empty' };
/** The body and code of the hosted provider. */
export const RATE_LIMITED: RpcErrorObject = { code: -32_005, message: 'Rate limit exceeded' };
/** As many bodies are being answered as there is room for. */
export const TOO_MANY_BODIES: RpcErrorObject = {
  code: -32_005,
  message: 'Too many messages are being answered: try again',
};
/** geth's code and text. */
export const TIMED_OUT: RpcErrorObject = { code: -32_002, message: 'request timed out' };
/** For what is the server's own doing; clients such as viem try it again. */
export const INTERNAL_ERROR: RpcErrorObject = { code: -32_603, message: 'Internal error' };

/** EIP-1193's code for what a key may not do. */
export function unauthorized(message: string): RpcErrorObject {
  return { code: 4_100, message };
}

export function invalidRequest(reason: string): RpcErrorObject {
  return { code: -32_600, message: `Invalid request: ${reason}` };
}

export function invalidParams(message: string): RpcErrorObject {
  return { code: -32_602, message };
}

/** EIP-1474's code for what isn't there. */
export function chainNotOffered(message: string): RpcErrorObject {
  return { code: -32_001, message };
}

export function notSupported(method: string, slug: string): RpcErrorObject {
  return { code: -32_601, message: notSupportedText(method, slug) };
}

/** A method that the operator has to allow. */
export function tracesOff(method: string, slug: string): RpcErrorObject {
  return { code: -32_601, message: `${notSupportedText(method, slug)}: GATEWAY_TRACES=on offers it` };
}

/** A method that tells something later, over HTTP. */
export function needsSocket(method: string): RpcErrorObject {
  return { code: -32_601, message: `${method} needs a WebSocket: connect to the same path with ws:// or wss://` };
}

/** The hosted provider's text. */
function notSupportedText(method: string, slug: string): string {
  return `${shortenMethod(method)} is not supported on chain ${slug}`;
}

/** No upstream of the chain answered: −32603, since the same call may succeed in a moment. Names no upstream. */
export function unavailable(slug: string): RpcErrorObject {
  return { code: -32_603, message: `No upstream of ${slug} can answer at the moment: try again` };
}

/** Whether an error says that no upstream answered, in the gateway's own words. */
export function isOwnFailure(error: RpcErrorObject, slug: string): boolean {
  return error === TIMED_OUT || error === INTERNAL_ERROR || error.message === unavailable(slug).message;
}

const METHOD_LENGTH_MAX = 64;

function shortenMethod(method: string): string {
  return method.length > METHOD_LENGTH_MAX ? `${method.slice(0, METHOD_LENGTH_MAX)}…` : method;
}
