import { z } from '@hono/zod-openapi';
import type { ApiApp } from './api-context.ts';
import { ScopeMissingError } from './api-error.ts';
import { KEY_SCOPES, type KeyScope } from './key-scope.ts';
import type { RouteScopes } from './route-scopes.ts';

/** An OpenAPI document with the 403 that every operation with a key check gives to a key without its scope. */
export function withScopeRefusals(app: ApiApp, routeScopes: RouteScopes, document: object): object {
  const scopes = scopesByOperation(app, routeScopes);
  const { paths, ...rest } = documentShape.parse(document);
  const described = Object.entries(paths).map(([path, operations]) => {
    const changed = Object.entries(operations).map(([method, operation]) => {
      const { responses } = operation;
      if (!(UNAUTHORIZED in responses) || FORBIDDEN in responses) return [method, operation];
      const scope = scopes.get(`${method.toUpperCase()} ${path}`) ?? 'admin';
      return [method, { ...operation, responses: { ...responses, [FORBIDDEN]: refusalOf(scope) } }];
    });
    return [path, Object.fromEntries(changed)];
  });
  return { ...rest, paths: Object.fromEntries(described) };
}

const UNAUTHORIZED = '401';
const FORBIDDEN = '403';
/** As `keys create` shows one. */
const EXAMPLE_KEY_ID = '1f0c2ab9';

const operationShape = z.looseObject({ responses: z.record(z.string(), z.unknown()) });
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

function scopesByOperation(app: ApiApp, routeScopes: RouteScopes): ReadonlyMap<string, KeyScope> {
  return new Map(
    app.routes.flatMap((route) => {
      const scope = routeScopes.get(route);
      return scope === undefined ? [] : [[`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, scope]];
    }),
  );
}

function refusalOf(scope: KeyScope): object {
  const scopes = new Set(KEY_SCOPES.filter((other) => other !== scope).slice(0, 1));
  const { message, details } = new ScopeMissingError(scope, { id: EXAMPLE_KEY_ID, name: '', scopes });
  return {
    description: `The key does not have the scope ${scope}`,
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: { message, details } },
    },
  };
}
