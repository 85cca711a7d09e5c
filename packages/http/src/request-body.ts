import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from './api-context.ts';
import { BodyAbortedError, BodyTooLargeError, TooManyBodiesError } from './api-error.ts';
import type { BodyBudget } from './body-budget.ts';
import { matchedRoute } from './unmatched.ts';

export interface RequestBodyOptions {
  /** Largest body. Bytes. */
  readonly bytesMax: number;
  readonly budget: BodyBudget;
}

/** A body of this type that is empty says nothing: as at the hosted provider, routes tell what they miss in it. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
const NOTHING = new TextEncoder().encode('{}');

/** Requests of an open server share one. */
const OPEN_KEY_ID = 'open';

/**
 * Reads the bodies of routes that declare one. Stands behind the key check: what strangers send, and what comes to a route
 * without a body, is read by nobody, and `serveApi` ends its connection.
 */
export function requestBody(app: OpenAPIHono<ApiEnv>, options: RequestBodyOptions): MiddlewareHandler<ApiEnv> {
  let routes: ReadonlySet<string> | undefined;
  return async (c, next) => {
    const route = matchedRoute(c);
    // Made at the first request, when all routes are known.
    routes ??= routesWithBody(app);
    if (route === undefined || !routes.has(`${route.method} ${route.path}`)) return next();
    return passWithBody(c, next, options);
  };
}

function routesWithBody(app: OpenAPIHono<ApiEnv>): ReadonlySet<string> {
  return new Set(
    app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route' || definition.route.request?.body === undefined) return [];
      const { method, path } = definition.route;
      return [`${method.toUpperCase()} ${path.replaceAll(/\{([^}]+)\}/g, ':$1')}`];
    }),
  );
}

async function passWithBody(c: ApiContext, next: () => Promise<void>, options: RequestBodyOptions): Promise<void> {
  const { bytesMax, budget } = options;
  if (Number(c.req.header('content-length') ?? 0) > bytesMax) throw new BodyTooLargeError(bytesMax);
  const keyId = c.get('principal')?.id ?? OPEN_KEY_ID;
  let taken = 0;
  try {
    const { body: stream } = c.req.raw;
    if (stream !== null) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(stream)) {
        if (taken + chunk.length > bytesMax) throw new BodyTooLargeError(bytesMax);
        if (!budget.take(keyId, chunk.length)) throw new TooManyBodiesError();
        taken += chunk.length;
        chunks.push(chunk);
      }
      c.req.raw = new Request(c.req.raw, { body: new Uint8Array(Buffer.concat(chunks, taken)) });
    }
    if (taken === 0 && JSON_TYPE.test(c.req.header('content-type') ?? ''))
      c.req.raw = new Request(c.req.raw, { body: NOTHING });
    await next();
  } finally {
    budget.give(keyId, taken);
  }
}

/** @throws BodyAbortedError: only the client's end can break a body off. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const piece = await reader.read().catch((error: unknown) => {
      throw new BodyAbortedError(error);
    });
    if (piece.done) return;
    yield piece.value;
  }
}
