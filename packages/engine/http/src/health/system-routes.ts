import type { Logger, Registry } from '@chainstead/core';
import { DatabaseUnavailableError } from '@chainstead/db';
import { createRoute, z } from '@hono/zod-openapi';
import { type ApiApp, type ApiContext, requestLogger } from '../api-context.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { UnavailableError } from '../errors/api-error.ts';
import { routesFor, withServices } from '../routes/routes-for.ts';

const statusSchema = z.object({ status: z.string() }).openapi('Status');

const readySchema = statusSchema
  .extend({
    notes: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Problems that need the attention of the operator' }),
  })
  .openapi('Ready');

const tag = 'System';
const { defineRoute } = routesFor<undefined>();
/** Probes and scrapers send no key. */
const systemRoute: typeof defineRoute = (route) => defineRoute({ isOpen: true, onlyErrors: [503], ...route });

const metricsRoute = createRoute({
  method: 'get',
  tags: [tag],
  security: [],
  path: '/metrics',
  summary: 'Get Prometheus metrics',
  responses: {
    200: {
      description: 'Metrics in the Prometheus text format',
      content: { 'text/plain': { schema: z.string() } },
    },
  },
});

interface SystemOptions {
  readonly logger: Logger;
  readonly metrics: Registry | null;
  readonly readiness: () => Promise<Readiness>;
  readonly synchronization: () => Promise<Readiness>;
}

export function addSystemRoutes(app: ApiApp, dependencies: ApiDependencies, options: SystemOptions): void {
  const { logger, metrics: registry } = options;
  const isReady = keepForSecond(options.readiness);
  const isSynced = keepForSecond(options.synchronization);
  withServices(undefined, [
    systemRoute({
      tag,
      path: '/health',
      summary: 'Check that the process is alive',
      response: { description: 'The process is alive', schema: statusSchema },
      onlyErrors: [],
      answer: async () => ({ status: 'ok' }),
    }),
    systemRoute({
      tag,
      path: '/ready',
      summary: 'Check that the process accepts requests',
      response: { description: 'The process is ready', schema: readySchema },
      async answer({ c }) {
        const refusal = await refusalOf(c, isReady, 'Not ready', logger);
        if (refusal !== null) return c.json(refusal, 503);
        const { notes = [] } = await isReady();
        return { status: 'ready', ...(notes.length > 0 && { notes: [...notes] }) };
      },
    }),
    systemRoute({
      tag,
      path: '/synced',
      summary: 'Check that all chains are synced to their head',
      response: { description: 'All chains are synced', schema: statusSchema },
      async answer({ c }) {
        const refusal = await refusalOf(c, isSynced, 'Not caught up', logger);
        return refusal === null ? { status: 'synced' } : c.json(refusal, 503);
      },
    }),
  ])(app, dependencies);
  if (registry === null) return;
  const metrics = keepForSecond(() => registry.metrics());
  app.openapi(metricsRoute, async (c) => c.text(await metrics(), 200, { 'content-type': registry.contentType }));
}

/** Null if ready. Not an error: a probe every second must not fill the error log. */
async function refusalOf(c: ApiContext, read: () => Promise<Readiness>, title: string, logger: Logger) {
  const { ready: isReady, reasons } = await read().catch((error: unknown) => {
    if (error instanceof DatabaseUnavailableError)
      return { ready: false, reasons: ['the database is unavailable'] };
    requestLogger(c, logger).error({ err: error }, 'Readiness could not be determined');
    return { ready: false, reasons: ['readiness could not be determined'] };
  });
  if (isReady) return null;
  const notYet = new UnavailableError(reasons.length === 0 ? title : `${title}: ${reasons.join('; ')}`);
  for (const [name, value] of Object.entries(notYet.headers)) c.header(name, value);
  return { message: notYet.message, details: { reasons: [...reasons] } };
}

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly notes?: readonly string[];
}

/** Before a failed read is retried, whatever the cache time. */
const FAILED_MS = 1_000;

export function keepFor<Value>(milliseconds: number, read: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined;
  let keptUntil = 0;
  let isReading = false;
  return () => {
    if (kept !== undefined && (isReading || performance.now() < keptUntil)) return kept;
    isReading = true;
    kept = readOnce();
    return kept;
  };

  async function readOnce(): Promise<Value> {
    let forMs = Math.min(milliseconds, FAILED_MS);
    try {
      const value = await read();
      forMs = milliseconds;
      return value;
    } finally {
      isReading = false;
      keptUntil = performance.now() + forMs;
    }
  }
}

/** Unauthenticated clients may request it at any rate. */
const KEPT_MS = 1_000;

export function keepForSecond<Value>(read: () => Promise<Value>): () => Promise<Value> {
  return keepFor(KEPT_MS, read);
}
