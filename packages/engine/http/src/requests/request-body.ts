import { countJsonValues, JSON_DEPTH_MAX } from '@chainstead/core';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { BodyAbortedError, BodyTooLargeError, TooManyBodiesError } from '../errors/api-error.ts';
import { matchedRoute } from '../errors/unmatched.ts';
import { type BodyBounds, type ByteBudget, boundsOfRoute, bytesOfValues } from './body-bounds.ts';

export interface RequestBodyOptions {
  readonly bytesMax: number;
  readonly budget: ByteBudget;
}

/** An empty body has no members: as in the hosted API, the route reports missing ones. */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
const NOTHING = new TextEncoder().encode('{}');
const OPEN_KEY_ID = 'open';

/** Limits bytes while receiving, values before parsing. Reads no body before the key check. */
export function requestBody(app: OpenAPIHono<ApiEnv>, options: RequestBodyOptions): MiddlewareHandler<ApiEnv> {
  let routes: ReadonlyMap<string, BodyBounds> | undefined;
  return async (c, next) => {
    const route = matchedRoute(c);
    routes ??= routesWithBody(app);
    const bounds = route === undefined ? undefined : routes.get(`${route.method} ${route.path}`);
    if (bounds === undefined) return next();
    const bytesMax = Math.min(bounds.bytesMax, options.bytesMax);
    return passWithBody(c, next, { ...bounds, bytesMax, budget: options.budget });
  };
}

export function releaseBody(c: ApiContext): void {
  c.req.bodyCache = {};
  c.req.raw = new Request(c.req.raw, { body: NOTHING });
  c.req.addValidatedData('json', {});
}

function routesWithBody(app: OpenAPIHono<ApiEnv>): ReadonlyMap<string, BodyBounds> {
  return new Map(
    app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route' || definition.route.request?.body === undefined) return [];
      const { method, path } = definition.route;
      const key = `${method.toUpperCase()} ${path.replaceAll(/\{([^}]+)\}/g, ':$1')}`;
      return [[key, boundsOfRoute(definition.route)]];
    }),
  );
}

async function passWithBody(
  c: ApiContext,
  next: () => Promise<void>,
  { bytesMax, valuesMax, budget }: RequestBodyOptions & BodyBounds,
): Promise<void> {
  if (Number(c.req.header('content-length') ?? 0) > bytesMax) throw new BodyTooLargeError(bytesMax);
  const keyId = c.get('principal')?.id ?? OPEN_KEY_ID;
  let taken = 0;
  const take = (bytes: number): void => {
    if (!budget.take(keyId, bytes)) throw new TooManyBodiesError();
    taken += bytes;
  };
  try {
    let length = 0;
    const { body: stream } = c.req.raw;
    if (stream !== null) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(stream)) {
        length += chunk.length;
        // Invariant: HTTP-BODY-BOUNDED
        if (length > bytesMax) throw new BodyTooLargeError(bytesMax);
        take(chunk.length);
        chunks.push(chunk);
      }
      const body = new Uint8Array(Buffer.concat(chunks, length));
      // Invariant: HTTP-BODY-BOUNDED
      take(bytesOfValues(countJsonValues(body, { depthMax: JSON_DEPTH_MAX, valuesMax }), length));
      c.req.raw = new Request(c.req.raw, { body });
    }
    if (length === 0 && JSON_TYPE.test(c.req.header('content-type') ?? ''))
      c.req.raw = new Request(c.req.raw, { body: NOTHING });
    await next();
  } finally {
    budget.give(keyId, taken);
  }
}

/** @throws BodyAbortedError: only the client's end can interrupt a body */
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
