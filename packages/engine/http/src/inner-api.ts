import { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiApp, ApiEnv } from './api-context.ts';
import type { ApiDependencies, RouteModule } from './api-dependencies.ts';
import type { Principal } from './keys/key-store.ts';
import { errorAnswer, refuseInvalid } from './requests/error-answer.ts';
import { boundedResponses } from './requests/response-bytes.ts';

/** For the process itself, after an earlier check of the client: no key, no rate limit. */
export interface InnerApi {
  get(target: string, asker: InnerAsker): Promise<InnerAnswer>;
  /** @param body sent as JSON */
  post(target: string, body: unknown, asker: InnerAsker): Promise<InnerAnswer>;
}

export interface InnerAsker {
  readonly principal: Principal | null;
  readonly requestId: string;
}

export interface InnerAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

const NEVER = new AbortController().signal;

/** With the same database, cursors and limits: responses equal those of clients. */
export function createInnerApi(modules: readonly RouteModule[], dependencies: ApiDependencies): InnerApi {
  const app: ApiApp = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
  const askers = new WeakMap<Request, InnerAsker>();
  app.onError(errorAnswer(dependencies.logger));
  app.use(async (c, next) => {
    const asker = askers.get(c.req.raw);
    c.set('requestId', asker?.requestId ?? '');
    c.set('principal', asker?.principal ?? null);
    c.set('ended', NEVER);
    return next();
  });
  app.use(boundedResponses());
  // Scopes are checked where requests enter.
  for (const addRoutes of modules) addRoutes(app, { ...dependencies, routeScopes: new Map() });
  const send = async (target: string, asker: InnerAsker, body?: string): Promise<InnerAnswer> => {
    const request = new Request(new URL(target, 'http://localhost'), {
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { method: 'POST', body }),
    });
    askers.set(request, asker);
    const answer = await app.fetch(request);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: answer.status, body: isJson ? await answer.json() : null, headers: answer.headers };
  };
  return {
    get: (target, asker) => send(target, asker),
    post: (target, body, asker) => send(target, asker, JSON.stringify(body)),
  };
}
