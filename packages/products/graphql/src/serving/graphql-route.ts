import type { Chain } from '@chainstead/chains';
import { type Clock, type Logger, whenAborted } from '@chainstead/core';
import { type ApiContext, InvalidParameterError, type RouteModule, readJsonBody } from '@chainstead/http';
import { z } from 'zod';
import type { GraphqlRequest } from '../operations/operation.ts';
import { GraphqlRefusalError, shownRefusal } from '../refusal.ts';
import { createExecutor } from '../thread/executor.ts';
import { createResultBudget } from './result-budget.ts';
import { createStreamResults } from './stream-results.ts';

export interface GraphqlOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly databaseUrl: string;
  readonly chains: readonly Chain[];
  readonly logger: Logger;
  readonly clock: Clock;
  /** Per operation, in milliseconds. @default 10,000 */
  readonly timeoutMs?: number;
  /** Values of one operation. @default 16 MiB */
  readonly bytesMax?: number;
  /** Until a larger result without a reader is abandoned, in milliseconds. @default 10,000 */
  readonly unreadMs?: number;
  /** Heap of a thread that runs operations. @default 768 */
  readonly heapMb?: number;
}

export interface Graphql {
  readonly routes: RouteModule;
  /** Call it before the server closes. */
  endStreams(): void;
  close(): Promise<void>;
}

const PATH = '/graphql';
const BODY_BYTES_MAX = 65_536;
const BODY_VALUES_MAX = 10_000;
const TIMEOUT_MS = 10_000;
const BYTES_MAX = 16 * 1_024 * 1_024;
/** One key may use all but one. */
const CONCURRENCY = 3;

const RESULTS_BYTES_MAX = 4 * BYTES_MAX;
const INTROSPECTION = /__(?:schema|type)\b/;
const IDLE_MS = 60_000;

export function openGraphql(options: GraphqlOptions): Graphql {
  const { databaseUrl, chains, logger, clock, heapMb, timeoutMs = TIMEOUT_MS, bytesMax = BYTES_MAX } = options;
  const settings = { databaseUrl, chains, timeoutMs, bytesMax, logLevel: logger.level };
  const operations = createExecutor({ ...settings, concurrency: CONCURRENCY }, { logger, heapMb });
  const introspections = createExecutor({ ...settings, concurrency: 1 }, { logger, heapMb, idleMs: IDLE_MS });
  const closing = new AbortController();
  const budget = createResultBudget(Math.max(RESULTS_BYTES_MAX, 4 * bytesMax), clock, options.unreadMs);
  const streamResults = createStreamResults({ clock, logger, budget, closing: closing.signal });

  async function respond(c: ApiContext, request: GraphqlRequest): Promise<Response> {
    const executor = INTROSPECTION.test(request.query) ? introspections : operations;
    const acceptsEvents = c.req.header('accept')?.includes('text/event-stream') === true;
    const keyId = c.get('principal')?.id ?? '';
    const ended = c.get('ended');
    const exchange = executor.open({ ...request, acceptsEvents, keyId });
    const forget = whenAborted(ended, () => exchange.close());
    let isStream = false;
    try {
      const reply = await exchange.next();
      // After a timeout, the response would never be read, nor return its room.
      ended.throwIfAborted();
      if (reply.type === 'opened') {
        const response = streamResults(c, exchange);
        isStream = true;
        return response;
      }
      if (reply.type !== 'result') throw new TypeError(`A request has no reply ${reply.type}`);
      if (reply.status === 200) return await budget.respond(c, keyId, reply.body);
      return c.body(reply.body, reply.status, {
        'content-type': 'application/json',
        ...(reply.isRetryable && { 'retry-after': '1' }),
      });
    } finally {
      if (!isStream) {
        forget();
        exchange.close();
      }
    }
  }

  return {
    routes(app) {
      app.post(PATH, async (c) => {
        const request = await readRequest(c.req.raw);
        try {
          return await respond(c, request);
        } catch (error) {
          if (!(error instanceof GraphqlRefusalError)) throw error;
          return c.json({ errors: [shownRefusal(error)] }, 503, { 'retry-after': '1' });
        }
      });
    },
    endStreams: () => closing.abort(),
    async close() {
      closing.abort();
      await Promise.all([operations.close(), introspections.close()]);
    },
  };
}

const requestBody = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

async function readRequest(request: Request): Promise<GraphqlRequest> {
  const body = requestBody.safeParse(
    await readJsonBody(request, { bytesMax: BODY_BYTES_MAX, valuesMax: BODY_VALUES_MAX }),
  );
  if (!body.success)
    throw new InvalidParameterError({
      parameter: 'body',
      message: 'The body must be one object with the text `query`, and `variables` and `operationName` if needed',
    });
  return body.data;
}
