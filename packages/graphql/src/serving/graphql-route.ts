import type { Clock, Logger } from '@chainstead/core';
import { type ApiContext, InvalidParameterError, type RouteModule, readJsonBody } from '@chainstead/http';
import { z } from 'zod';
import { type GraphqlRequest, readOperation } from '../operations/operation.ts';
import { type GraphqlResult, runQuery, shownError } from '../operations/run-query.ts';
import { openReader } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { createCurrentSchema } from '../schema/current-schema.ts';
import { readStart } from '../subscriptions/branch.ts';
import { readNewRows } from '../subscriptions/new-rows.ts';
import { createNewestBlocks } from '../subscriptions/newest-blocks.ts';
import { pageQuery } from '../subscriptions/page-query.ts';
import { createStreamResults } from './stream-results.ts';

export interface GraphqlOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Time for one operation. Milliseconds. @default 10,000 */
  readonly timeoutMs?: number;
  /** Bytes of the values of one operation. @default 16 MiB */
  readonly bytesMax?: number;
}

/** The route and its connections. */
export interface Graphql {
  readonly routes: RouteModule;
  /** Ends subscriptions: call it before the server closes. */
  endStreams(): void;
  close(): Promise<void>;
}

const PATH = '/graphql';
const BODY_BYTES_MAX = 65_536;
const BODY_VALUES_MAX = 10_000;
const TIMEOUT_MS = 10_000;
const BYTES_MAX = 16 * 1_024 * 1_024;
/** Operations that read at the same time in this process. */
const CONCURRENCY = 4;

/**
 * Returns the route `POST /graphql`. Queries get JSON, subscriptions a stream of events.
 * @throws {DatabaseError} DATABASE_URL_INVALID
 */
export function openGraphql(options: GraphqlOptions): Graphql {
  const { databaseUrl, logger, clock, timeoutMs = TIMEOUT_MS, bytesMax = BYTES_MAX } = options;
  const reader = openReader({
    ...{ url: databaseUrl, logger, clock },
    limits: { timeoutMs, bytesMax },
    concurrency: CONCURRENCY,
  });
  const schema = createCurrentSchema({ reader, clock, logger });
  const newestBlocks = createNewestBlocks(reader, clock);
  const closing = new AbortController();
  const streamResults = createStreamResults({ clock, logger, closing: closing.signal });

  async function respond(c: ApiContext, request: GraphqlRequest): Promise<Response> {
    const built = await schema.read();
    const operation = readOperation(built.schema, request);
    const { document, variables } = operation;
    if (operation.definition.operation === 'subscription') {
      requireEventStream(c);
      const page = pageQuery(operation);
      const start = await reader.inSnapshot((withClient) => readStart(withClient, page.chainId, page.afterBlock));
      return streamResults(c, (signal) =>
        readNewRows({ built, page, start, variables, reader, newestBlocks, logger, signal }),
      );
    }
    const wanted = { document, operationName: request.operationName ?? null, variables };
    return c.json(await reader.inSnapshot((withClient) => runQuery(built, wanted, withClient, logger)));
  }

  return {
    routes(app) {
      app.post(PATH, async (c) => {
        const request = await readRequest(c.req.raw);
        try {
          return await respond(c, request);
        } catch (error) {
          if (!(error instanceof GraphqlRefusalError)) throw error;
          const result: GraphqlResult = { errors: [shownError(error, logger)] };
          return c.json(result, statusOf(error), error.retryable ? { 'retry-after': '1' } : undefined);
        }
      });
    },
    endStreams: () => closing.abort(),
    async close() {
      closing.abort();
      await reader.close();
    },
  };
}

function statusOf({ code }: GraphqlRefusalError): 400 | 503 {
  return REFUSED_BY_SERVER.has(code) ? 503 : 400;
}

const REFUSED_BY_SERVER = new Set(['GRAPHQL_BUSY', 'GRAPHQL_ROLE_UNSAFE', 'GRAPHQL_TIMEOUT', 'GRAPHQL_UNAVAILABLE']);

function requireEventStream(c: ApiContext): void {
  if (c.req.header('accept')?.includes('text/event-stream') === true) return;
  throw new GraphqlRefusalError(
    'GRAPHQL_INVALID',
    'A subscription is a stream of events',
    'Send the header Accept: text/event-stream.',
  );
}

const requestBody = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

/** @throws BodyTooLargeError, InvalidParameterError */
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
