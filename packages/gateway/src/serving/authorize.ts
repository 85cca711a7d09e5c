import type { IncomingHttpHeaders } from 'node:http';
import { type KeyStore, type Principal, type RawGate, ScopeMissingError } from '@chainstead/http';
import { KEY_PATTERN } from '@chainstead/http/configured-key';
import type { RpcErrorObject } from '../protocol/rpc-errors.ts';
import { unauthorized } from '../protocol/rpc-errors.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Set if the response to a POST is a JSON-RPC error. */
  readonly error?: RpcErrorObject;
}

/** The sender of a gateway request, or why it is refused. */
export interface Admission {
  /** Principal's id; {@link OPEN_KEY_ID} on a server without keys. */
  readonly keyId: string;
  /** Response headers for pages of other origins, names and values alternating. */
  readonly cors: readonly string[];
  /** Null: the request is admitted. */
  readonly refusal: Refusal | null;
}

export interface AuthorizeOptions {
  readonly gate: RawGate;
  readonly keys: KeyStore;
}

/** Key id of all requests to a server without keys. */
export const OPEN_KEY_ID = 'open';

const OPEN: Admission = { keyId: OPEN_KEY_ID, cors: [], refusal: null };

/** Checks the key of a path and the request headers; synchronously if nothing must be awaited. */
export function authorize(
  headers: IncomingHttpHeaders,
  key: string,
  options: AuthorizeOptions,
): Admission | Promise<Admission> {
  const isOpen = options.gate.isOpen();
  if (isOpen instanceof Promise) return isOpen.then((open) => authorizeKnowing(open, headers, key, options));
  return authorizeKnowing(isOpen, headers, key, options);
}

function authorizeKnowing(
  isOpen: boolean,
  headers: IncomingHttpHeaders,
  key: string,
  { gate, keys }: AuthorizeOptions,
): Admission | Promise<Admission> {
  const cors = headers.origin === undefined ? [] : gate.corsHeaders(headers.origin, isOpen);
  if (isOpen) {
    const refusal = gate.refusal(headers);
    return refusal === null && cors.length === 0 ? OPEN : { ...OPEN, cors, refusal };
  }
  const refused = (message: string): Admission => ({ keyId: OPEN_KEY_ID, cors, refusal: { status: 401, message } });
  if (!KEY_PATTERN.test(key)) return refused('Token is invalid format');
  const admit = (principal: Principal | null): Admission =>
    principal === null
      ? refused('Node Key not valid')
      : { keyId: principal.id, cors, refusal: scopeRefusal(principal) };
  const principal = keys.verify(key);
  return principal instanceof Promise ? principal.then(admit) : admit(principal);
}

function scopeRefusal(principal: Principal): Refusal | null {
  if (principal.scopes.has('rpc')) return null;
  const { status, message } = new ScopeMissingError('rpc', principal);
  return { status, message, error: unauthorized(message) };
}
