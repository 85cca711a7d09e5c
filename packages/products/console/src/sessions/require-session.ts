import { defineApiError, type Principal, RateLimitedError } from '@chainstead/http';
import { addressGroupOf, type KeyStore, type SharedLimits } from '@chainstead/http/server';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { CookieOptions } from 'hono/utils/cookie';
import { TOKEN_FIELD, TOKEN_HEADER } from '../layout/form.ts';
import { type Html, note, problem } from '../layout/html.ts';
import type { ConsoleSession, RequestOrigin, SessionStore } from './session-store.ts';

export class NotSignedInError extends defineApiError('NOT_SIGNED_IN', () => ({
  status: 401,
  message: 'You are not signed in, or the session has ended. Sign in again',
})) {}

class TokenMissingError extends defineApiError('TOKEN_MISSING', () => ({
  status: 403,
  message: 'The form belongs to another session. Reload the page and repeat the change',
})) {}

export function requireSession(cookie: SessionCookie, sessions: SessionStore): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    const secret = await cookie.read(c);
    const session = secret === null ? null : await sessions.find(secret, true);
    if (secret === null || session === null) return signInFirst(c, secret !== null);
    if (!isReading(c)) {
      const token = c.req.header(TOKEN_HEADER) ?? (await c.req.parseBody({ all: true }))[TOKEN_FIELD];
      if (typeof token !== 'string' || !sessions.isToken(secret, token)) throw new TokenMissingError();
    }
    c.set('session', session);
    c.set('sessionSecret', secret);
    c.set('token', sessions.tokenOf(secret));
    return next();
  };
}

function signInFirst(c: ConsoleContext, hadCookie: boolean): Response | Promise<Response> {
  const wantsPage = isReading(c) && c.req.header('accept')?.includes('text/html') === true;
  if (!wantsPage || c.req.header('hx-request') !== undefined) throw new NotSignedInError();
  // Browsers omit the cookie for another site's link, but send it with this reload.
  if (!hadCookie && c.req.header('sec-fetch-site') === 'cross-site')
    return c.html(
      html`<!doctype html><html lang="en"><title>Chainstead</title><meta http-equiv="refresh" content="0"></html>`,
    );
  const { pathname, search } = new URL(c.req.url);
  return c.redirect(`/console/sign-in?to=${encodeURIComponent(pathname + search)}`, 303);
}

class ForeignChangeError extends defineApiError('FOREIGN_CHANGE', (header: string) => ({
  status: 403,
  message: `A change must come from a page of this console, but ${header} does not match. Behind a proxy, forward the original Host header`,
})) {}

/** By `Sec-Fetch-Site`, which no script can set, and `Origin`. Reads are safe from any site. */
export const refuseForeign: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  if (!isReading(c)) requireOwnPage(c);
  return next();
};

function isReading(c: Context): boolean {
  return c.req.method === 'GET' || c.req.method === 'HEAD';
}

function requireOwnPage(c: Context): void {
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  if (site !== undefined && site !== 'same-origin') throw new ForeignChangeError('Sec-Fetch-Site');
  const hosts = [c.req.header('host'), c.req.header('x-forwarded-host')?.split(',')[0], new URL(c.req.url).host]
    .map((host) => host?.trim().toLowerCase())
    .filter(Boolean);
  if (origin !== undefined && !hosts.includes(URL.parse(origin)?.host.toLowerCase()))
    throw new ForeignChangeError('Origin');
  if (site === undefined && origin === undefined) throw new ForeignChangeError('the missing Origin header');
}

class NoAdminKeyError extends defineApiError('NO_ADMIN_KEY', ({ id }: Principal) => ({
  status: 403,
  message: `The console requires a key with the scope admin. Create one: chainstead keys create --scope admin. Or add the scope to this key: chainstead keys scope ${id} --scope admin`,
})) {}

class WrongKeyError extends defineApiError('WRONG_KEY', () => ({
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

export function signInPage(refusal: string | null, goTo: string): Html {
  return html`<h1>Sign in</h1>
${refusal !== null && problem(html`${refusal}`)}
<form method="post" action="/console/sign-in" class="fields">
<input type="hidden" name="to" value="${goTo}">
<div><label for="key">Key with the scope <code>admin</code></label>
<input id="key" name="key" type="password" autocomplete="current-password" required maxlength="200" autofocus></div>
<div><button>Sign in</button></div>
</form>
${note('The first start on this machine writes such a key to `DATA_DIR/console-key`. `chainstead keys create --scope admin` creates another one.')}`;
}

const OWN_PATH = /^\/console(?:[/?][\w./?=&%~:-]*)?$/;

/** Pages of the console only. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && OWN_PATH.test(path) && !path.includes('//') ? path : '/console';
}

export interface SessionCookie {
  read(c: Context): Promise<string | null>;
  write(c: Context, secret: string): Promise<void>;
  clear(c: Context): void;
}

const COOKIE_NAME = 'chainstead_console';
const SECONDS_MAX = 7 * 24 * 3_600;

export function createSessionCookie(key: Buffer): SessionCookie {
  const signature = new Uint8Array(key);
  const optionsOf = (c: Context): CookieOptions => {
    // A forged header only keeps a browser from sending its cookie over HTTP.
    const isForwarded = c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https';
    return {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/console',
      secure: isForwarded || c.req.url.startsWith('https:'),
    };
  };
  return {
    async read(c) {
      const value = await getSignedCookie(c, signature, COOKIE_NAME);
      return typeof value === 'string' ? value : null;
    },
    write: (c, secret) =>
      setSignedCookie(c, COOKIE_NAME, secret, signature, { ...optionsOf(c), maxAge: SECONDS_MAX }),
    clear: (c) => void deleteCookie(c, COOKIE_NAME, optionsOf(c)),
  };
}

export interface ConsoleEnv {
  Variables: {
    requestId: string;
    session: ConsoleSession;
    /** Never put it on a page. */
    sessionSecret: string;
    token: string;
  };
}

export type ConsoleContext = Context<ConsoleEnv>;
