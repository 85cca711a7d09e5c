import type { IncomingHttpHeaders } from 'node:http';
import { type Principal, ScopeMissingError } from '@chainstead/http';
import { KEY_PATTERN } from '@chainstead/http/configured-key';
import type { KeyStore, RawGate } from '@chainstead/http/server';
import { type RpcErrorObject, unauthorized } from '../protocol/rpc-errors.ts';

export interface AdmissionRefusal {
  readonly status: number;
  readonly message: string;
  readonly error?: RpcErrorObject;
}

export interface Admission {
  readonly keyId: string;
  /** For pages of other origins: names and values alternate. */
  readonly cors: readonly string[];
  readonly refusal: AdmissionRefusal | null;
}

interface AuthorizeOptions {
  readonly gate: RawGate;
  readonly keys: KeyStore;
}

export const OPEN_KEY_ID = 'open';

const OPEN: Admission = { keyId: OPEN_KEY_ID, cors: [], refusal: null };

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
  const refused = (message: string): Admission => ({
    keyId: OPEN_KEY_ID,
    cors,
    refusal: { status: 401, message },
  });
  if (!KEY_PATTERN.test(key)) return refused('Token is invalid format');
  const admit = (principal: Principal | null): Admission => {
    if (principal === null) return refused('Node Key not valid');
    const { id: keyId, scopes } = principal;
    if (scopes.has('rpc')) return { keyId, cors, refusal: null };
    const { status, message } = new ScopeMissingError('rpc', principal);
    return { keyId, cors, refusal: { status, message, error: unauthorized(message) } };
  };
  const principal = keys.verify(key);
  return principal instanceof Promise ? principal.then(admit) : admit(principal);
}
