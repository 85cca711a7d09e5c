import {
  ApiError,
  addressGroupOf,
  type KeyStore,
  type Principal,
  RateLimitedError,
  type SharedLimits,
} from '@chainstead/http';
import type { RequestOrigin, SessionStore } from './session-store.ts';

/** A 403: the key is accepted, but not for the console. */
export class NoAdminKeyError extends ApiError {
  constructor({ id }: Principal) {
    super({
      code: 'NO_ADMIN_KEY',
      status: 403,
      message: `The console asks for a key with the scope admin. Make one with: chainstead keys create --scope admin. Or allow it to this one: chainstead keys scope ${id} --scope admin`,
    });
  }
}

/** A 401: no such key. */
export class WrongKeyError extends ApiError {
  constructor() {
    super({ code: 'WRONG_KEY', status: 401, message: 'There is no such key, or it was revoked' });
  }
}

export interface SignInOptions {
  readonly keys: KeyStore;
  readonly sessions: SessionStore;
  /** Where attempts are counted, over all processes. */
  readonly sharedLimits: SharedLimits;
}

/** Refused attempts of one address (of a network of IPv6), over all processes. */
const ATTEMPTS = 10;
const WINDOW_MS = 60_000;

/**
 * Signs in with a key. Refused attempts count against the address. A right key is never refused for them: many people share an
 * address. Keys are compared by digest, so that timing reveals nothing. @returns what the browser has to keep @throws RateLimitedError, WrongKeyError, NoAdminKeyError
 */
export type SignIn = (key: string, origin: RequestOrigin) => Promise<string>;

export function createSignIn({ keys, sessions, sharedLimits }: SignInOptions): SignIn {
  const attempts = sharedLimits.add({ name: 'console sign-in', budget: ATTEMPTS, windowMs: WINDOW_MS });
  return async (given, origin) => {
    const key = given.trim();
    const principal = await keys.verify(key);
    if (principal?.scopes.has('admin') === true) return sessions.begin(key, principal, origin);
    const budget = attempts.budgetOf(addressGroupOf(origin.address));
    const waitMs = await sharedLimits.spend([{ budget, amount: 1 }]);
    if (waitMs > 0) throw new RateLimitedError(Math.max(1, Math.ceil(waitMs / 1_000)));
    throw principal === null ? new WrongKeyError() : new NoAdminKeyError(principal);
  };
}
