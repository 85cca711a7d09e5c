import { ApiError } from '@chainstead/http';
import type { Context, MiddlewareHandler } from 'hono';
import type { ConsoleEnv } from './console-env.ts';

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
 * Accepts changes only from console pages, by `Sec-Fetch-Site`, which no script can set, and by `Origin`.
 * Reads are safe from any site: no other site gets the cookie sent or may read the response.
 */
export const refuseForeign: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  if (!isReading(c)) requireOwnPage(c);
  return next();
};

export function isReading(c: Context): boolean {
  return c.req.method === 'GET' || c.req.method === 'HEAD';
}

function requireOwnPage(c: Context): void {
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  if (site !== undefined && site !== 'same-origin') throw new ForeignChangeError('Sec-Fetch-Site');
  // This server's host names, from the browser or from a proxy before it.
  const hosts = [c.req.header('host'), c.req.header('x-forwarded-host')?.split(',')[0], new URL(c.req.url).host]
    .map((host) => host?.trim().toLowerCase())
    .filter(Boolean);
  if (origin !== undefined && !hosts.includes(URL.parse(origin)?.host.toLowerCase()))
    throw new ForeignChangeError('Origin');
  if (site === undefined && origin === undefined) throw new ForeignChangeError('the missing Origin header');
}
