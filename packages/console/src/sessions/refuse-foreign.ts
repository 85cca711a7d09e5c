import { ApiError } from '@chainstead/http';
import type { Context, MiddlewareHandler } from 'hono';
import type { ConsoleEnv } from './console-env.ts';

/** A 403: a change requested by a page of another site, or outside any page. */
export class ForeignChangeError extends ApiError {
  constructor(header: string) {
    super({
      code: 'FOREIGN_CHANGE',
      status: 403,
      message: `A change must come from a page of this console, but ${header} does not match. Behind a proxy, forward the original Host header`,
    });
  }
}

/**
 * Returns middleware that accepts only changes requested by console pages, by `Sec-Fetch-Site`, which no script can
 * set, and by `Origin`. A client that sends neither is not a browser. Reads are safe from any site: they change
 * nothing, and no other site gets the cookie sent or may read the response.
 */
export function refuseForeign(): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    if (!isReading(c)) requireOwnPage(c);
    return next();
  };
}

export function isReading(c: Context): boolean {
  return c.req.method === 'GET' || c.req.method === 'HEAD';
}

/** @throws ForeignChangeError */
function requireOwnPage(c: Context): void {
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  if (site !== undefined && site !== 'same-origin') throw new ForeignChangeError('Sec-Fetch-Site');
  if (origin !== undefined && !hostsOf(c).has(URL.parse(origin)?.host.toLowerCase() ?? ''))
    throw new ForeignChangeError('Origin');
  if (site === undefined && origin === undefined) throw new ForeignChangeError('the missing Origin header');
}

/** Returns this server's host names, from the browser or from a proxy before it. */
function hostsOf(c: Context): ReadonlySet<string> {
  const named = [c.req.header('host'), c.req.header('x-forwarded-host')?.split(',')[0], new URL(c.req.url).host];
  return new Set(named.flatMap((host) => (host === undefined || host === '' ? [] : [host.trim().toLowerCase()])));
}
