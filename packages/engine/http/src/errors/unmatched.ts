import type { OpenAPIHono } from '@hono/zod-openapi';
import { matchedRoutes } from 'hono/route';
import type { RouterRoute } from 'hono/types';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { MethodNotAllowedError, NotFoundError } from './api-error.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** The router registers middleware under it, for every path. */
const MIDDLEWARE = 'ALL';
/** The router's form of a parameter, such as `{0[xX][^/]*}`. */
const FORM = /\{.*?\}(?=\/[^\]]|$)/g;

/** Clients of the hosted API may still have other versions in their base URL. */
const OTHER_VERSION = /^\/api\/(?!v2\.2(?:\/|$))/;

export function matchedRoute(c: ApiContext): RouterRoute | undefined {
  return matchedRoutes(c).find((route) => route.method !== MIDDLEWARE);
}

/** `/api/v2.2/:address/erc20/transfers`; `unmatched` without a route. */
export function routePatternOf(c: ApiContext): string {
  return matchedRoute(c)?.path.replaceAll(FORM, '') ?? 'unmatched';
}

export function unmatched(app: OpenAPIHono<ApiEnv>): (c: ApiContext) => never {
  return (c) => {
    const matching = METHODS.filter((method) =>
      app.router.match(method, c.req.path)[0].some(([[, route]]) => route.method !== MIDDLEWARE),
    );
    if (matching.length === 0) {
      const hint = OTHER_VERSION.test(c.req.path) ? ': the data API is served at /api/v2.2' : '';
      throw new NotFoundError(`No route for ${c.req.method} ${withoutKey(c.req.path).slice(0, 120)}${hint}`);
    }
    const allowed = matching.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    throw new MethodNotAllowedError(c.req.method, withoutKey(c.req.path), allowed);
  };
}

/** From a gateway path, also with an unknown chain or malformed slashes. */
function withoutKey(path: string): string {
  return path.replace(/^(\/+(?!api\/)[^/%]*(?:\/|%2f)+)[A-Za-z0-9._-]{8,128}(?=[/%]|$)/i, '$1…');
}
