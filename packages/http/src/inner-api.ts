import { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiApp, ApiEnv } from './api-context.ts';
import type { ApiDependencies } from './api-dependencies.ts';
import { errorAnswer, refuseInvalid } from './error-answer.ts';
import type { Principal } from './principal.ts';
import type { RouteModule } from './route-module.ts';

/** Routes as the process itself asks them, whoever asks having been checked before: no key, no rate. */
export interface InnerApi {
  /** @param target path and query, as a client would send them */
  get(target: string, asker: InnerAsker): Promise<InnerAnswer>;
}

/** For whom the process asks. */
export interface InnerAsker {
  /** Whom work that the request causes is counted for. */
  readonly principal: Principal | null;
  readonly requestId: string;
}

export interface InnerAnswer {
  readonly status: number;
  /** JSON, read; null where the answer is none. */
  readonly body: unknown;
}

/**
 * The same routes once more, with the same database, cursors and limits: who asks them within a request of the API gets what its clients get, and
 * cursors of one work at the other.
 */
export function createInnerApi(modules: readonly RouteModule[], dependencies: ApiDependencies): InnerApi {
  const app: ApiApp = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
  const askers = new WeakMap<Request, InnerAsker>();
  app.onError(errorAnswer(dependencies.logger));
  app.use(async (c, next) => {
    const asker = askers.get(c.req.raw);
    c.set('requestId', asker?.requestId ?? '');
    c.set('principal', asker?.principal ?? null);
    return next();
  });
  // Scopes are asked for where requests come in.
  for (const addRoutes of modules) addRoutes(app, { ...dependencies, routeScopes: new Map() });
  return {
    async get(target, asker) {
      const request = new Request(new URL(target, 'http://localhost'), { headers: { accept: 'application/json' } });
      askers.set(request, asker);
      const answer = await app.fetch(request);
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: answer.status, body: isJson ? await answer.json() : null };
    },
  };
}
