import { defineApiError, type Principal, RateLimitedError } from '@chainstead/http';
import { addressGroupOf, type KeyStore, type SharedLimits } from '@chainstead/http/server';
import { html } from 'hono/html';
import type { Html } from '../layout/html.ts';
import type { RequestOrigin, SessionStore } from './session-store.ts';

export class NoAdminKeyError extends defineApiError('NO_ADMIN_KEY', ({ id }: Principal) => ({
  status: 403,
  message: `The console requires a key with the scope admin. Create one: chainstead keys create --scope admin. Or add the scope to this key: chainstead keys scope ${id} --scope admin`,
})) {}

export class WrongKeyError extends defineApiError('WRONG_KEY', () => ({
  status: 401,
  message: 'The key does not exist or was revoked',
})) {}

/** Refused attempts of an address (IPv6: a network), in all processes. */
const ATTEMPTS = 10;
const WINDOW_MS = 60_000;

/** A right key always passes. @throws RateLimitedError, WrongKeyError, NoAdminKeyError */
export function createSignIn(keys: KeyStore, sessions: SessionStore, sharedLimits: SharedLimits) {
  const attempts = sharedLimits.add({ name: 'console sign-in', budget: ATTEMPTS, windowMs: WINDOW_MS });
  return async (field: string, origin: RequestOrigin): Promise<string> => {
    const key = field.trim();
    const principal = await keys.verify(key);
    if (principal?.scopes.has('admin') === true) return sessions.begin(key, principal, origin);
    const budget = attempts.budgetOf(addressGroupOf(origin.address));
    const waitMs = await sharedLimits.spend([{ budget, amount: 1 }]);
    if (waitMs > 0) throw new RateLimitedError(Math.max(1, Math.ceil(waitMs / 1_000)));
    throw principal === null ? new WrongKeyError() : new NoAdminKeyError(principal);
  };
}

export function signInPage(problem: string | null, goTo: string): Html {
  return html`<h1>Sign in</h1>
${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/console/sign-in" class="fields">
<input type="hidden" name="to" value="${goTo}">
<div><label for="key">Key with the scope <code>admin</code></label>
<input id="key" name="key" type="password" autocomplete="current-password" required maxlength="200" autofocus></div>
<div><button>Sign in</button></div>
</form>
<p class="soft">The first start on this machine writes such a key to <code>DATA_DIR/console-key</code>. <code>chainstead keys create --scope admin</code> creates another one.</p>`;
}

const OWN_PATH = /^\/console(?:[/?][\w./?=&%~:-]*)?$/;

/** Pages of the console only. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && OWN_PATH.test(path) && !path.includes('//') ? path : '/console';
}
