import type { OpenAPIHono } from '@hono/zod-openapi';
import { matchedRoutes } from 'hono/route';
import type { RouterRoute } from 'hono/types';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { MethodNotAllowedError, NotFoundError } from './api-error.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** The method under which the router keeps middleware, which matches every path. */
const MIDDLEWARE = 'ALL';
/** What the router asks of a parameter, such as `{0[xX][^/]*}`: up to where the next part begins. */
const FORM = /\{.*?\}(?=\/[^\]]|$)/g;

/** Of the data API, which clients of the hosted API may still have in their base URL. */
const OTHER_VERSION = /^\/api\/(?!v2\.2(?:\/|$))/;

/** The route (no middleware) that answers the request: the first that matches. */
export function matchedRoute(c: ApiContext): RouterRoute | undefined {
  return matchedRoutes(c).find((route) => route.method !== MIDDLEWARE);
}

/** The path pattern of the route that answers, such as `/api/v2.2/:address/erc20/transfers`; `unmatched` without one. */
export function routePatternOf(c: ApiContext): string {
  return matchedRoute(c)?.path.replaceAll(FORM, '') ?? 'unmatched';
}

/** Answers a request that no route matches: 405 with `Allow` where other methods would, otherwise 404. */
export function unmatched(app: OpenAPIHono<ApiEnv>): (c: ApiContext) => never {
  return (c) => {
    const known = METHODS.filter((method) =>
      app.router.match(method, c.req.path)[0].some(([[, route]]) => route.method !== MIDDLEWARE),
    );
    if (known.length === 0) {
      const hint = OTHER_VERSION.test(c.req.path) ? ': the data API is served at /api/v2.2' : '';
      throw new NotFoundError(`No route for ${c.req.method} ${withoutKey(c.req.path).slice(0, 120)}${hint}`);
    }
    const allowed = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    throw new MethodNotAllowedError(c.req.method, withoutKey(c.req.path), allowed);
  };
}

/**
 * The gateway has the key in its path, behind a chain's name: one that is sent to a chain that isn't there, or with doubled or
 * encoded slashes, is not repeated.
 */
function withoutKey(path: string): string {
  return path.replace(/^(\/+(?!api\/)[^/%]*(?:\/|%2f)+)[A-Za-z0-9._-]{8,128}(?=[/%]|$)/i, '$1…');
}
