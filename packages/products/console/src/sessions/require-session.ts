import { defineApiError } from '@chainstead/http';
import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import { TOKEN_FIELD, TOKEN_HEADER } from '../layout/form.ts';
import type { ConsoleContext, ConsoleEnv } from './console-env.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

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
