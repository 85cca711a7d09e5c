import { ApiError } from '@chainstead/http';
import type { MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import { TOKEN_FIELD, TOKEN_HEADER } from '../layout/form.ts';
import type { ConsoleContext, ConsoleEnv } from './console-env.ts';
import { isReading } from './refuse-foreign.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

export class NotSignedInError extends ApiError {
  constructor() {
    super({
      code: 'NOT_SIGNED_IN',
      status: 401,
      message: 'You are not signed in, or the session has ended. Sign in again',
    });
  }
}

export class TokenMissingError extends ApiError {
  constructor() {
    super({
      code: 'TOKEN_MISSING',
      status: 403,
      message: 'The form belongs to another session. Reload the page and repeat the change',
    });
  }
}

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
  // Browsers omit the cookie on requests from another site's link, but send it with the reload by this page.
  if (!hadCookie && c.req.header('sec-fetch-site') === 'cross-site')
    return c.html(
      html`<!doctype html><html lang="en"><title>Chainstead</title><meta http-equiv="refresh" content="0"></html>`,
    );
  const { pathname, search } = new URL(c.req.url);
  return c.redirect(`/console/sign-in?to=${encodeURIComponent(pathname + search)}`, 303);
}
