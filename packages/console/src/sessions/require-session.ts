import { ApiError } from '@chainstead/http';
import type { MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import { TOKEN_FIELD, TOKEN_HEADER } from '../layout/form.ts';
import type { ConsoleContext, ConsoleEnv } from './console-env.ts';
import { isReading } from './refuse-foreign.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionStore } from './session-store.ts';

/** A 401: not signed in, or not any more. */
export class NotSignedInError extends ApiError {
  constructor() {
    super({
      code: 'NOT_SIGNED_IN',
      status: 401,
      message: 'You are not signed in, or the session has ended. Sign in again',
    });
  }
}

/** A 403: the change does not come from a form of this session. */
export class TokenMissingError extends ApiError {
  constructor() {
    super({
      code: 'TOKEN_MISSING',
      status: 403,
      message: 'The form belongs to another session. Reload the page and repeat the change',
    });
  }
}

/**
 * Returns middleware that accepts requests of sessions, and changes with the session's token. Pages redirect to the
 * sign-in.
 */
export function requireSession(options: {
  readonly cookie: SessionCookie;
  readonly sessions: SessionStore;
}): MiddlewareHandler<ConsoleEnv> {
  const { cookie, sessions } = options;
  return async (c, next) => {
    const secret = await cookie.read(c);
    const session = secret === null ? null : await sessions.find(secret, true);
    if (secret === null || session === null) return signInFirst(c, secret !== null);
    const token = sessions.tokenOf(secret);
    if (!isReading(c) && !sessions.isToken(secret, await tokenOf(c))) throw new TokenMissingError();
    c.set('session', session);
    c.set('sessionSecret', secret);
    c.set('token', token);
    return next();
  };
}

/** @throws NotSignedInError if the request was not for a page */
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

async function tokenOf(c: ConsoleContext): Promise<string> {
  const header = c.req.header(TOKEN_HEADER);
  if (header !== undefined) return header;
  const field = (await c.req.parseBody({ all: true }))[TOKEN_FIELD];
  return typeof field === 'string' ? field : '';
}
