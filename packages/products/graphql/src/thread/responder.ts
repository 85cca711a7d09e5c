import { createChainFinder } from '@chainstead/chains';
import { type Clock, createTurns, type Logger } from '@chainstead/core';
import type { WithPgClient } from '@dataplan/pg';
import { checkOperation, parseOperation } from '../operations/operation.ts';
import { type JsonBytes, jsonBytes, runQuery, shownError } from '../operations/run-query.ts';
import { openReader } from '../reading/reader.ts';
import { GraphqlRefusalError } from '../refusal.ts';
import { createSchemas, type KeyedSchema } from '../schema/schemas.ts';
import { createSharedSteps, type NewRowsOptions, readNewRows } from '../subscriptions/new-rows.ts';
import { createNewestBlocks } from '../subscriptions/newest-blocks.ts';
import { pageQuery, readStart } from '../subscriptions/page-query.ts';
import type { ThreadReply, ThreadRequest, ThreadSettings } from './executor.ts';

/** Running and waiting operations. */
const PLACES_PER_KEY = 64;

export interface Responder {
  /** One result; for a subscription, events until the signal aborts. */
  respond(request: ThreadRequest, signal: AbortSignal): AsyncGenerator<ThreadReply, void, undefined>;
  close(): Promise<void>;
}

export function openResponder(settings: ThreadSettings, logger: Logger, clock: Clock): Responder {
  const { databaseUrl, timeoutMs, bytesMax, concurrency } = settings;
  const turns = createTurns({
    atOnce: concurrency,
    atOncePerKey: Math.max(1, concurrency - 1),
    placesPerKey: PLACES_PER_KEY,
    busy: (places) =>
      new GraphqlRefusalError(
        'GRAPHQL_BUSY',
        `${places} operations of this key are running or waiting`,
        'Retry in a second.',
      ),
    now: () => clock.now(),
  });
  const reader = openReader({ url: databaseUrl, logger, clock, concurrency, limits: { timeoutMs, bytesMax } });
  const schemas = createSchemas(reader, clock, { find: createChainFinder(settings.chains) });
  const newestBlocks = createNewestBlocks(reader, clock);
  const steps = createSharedSteps();

  async function* replies(
    request: ThreadRequest,
    signal: AbortSignal,
    onOpened: () => void,
  ): AsyncGenerator<ThreadReply, void, undefined> {
    const { query, operationName = null, keyId } = request;
    const answer = await turns.run(keyId, () => begin(request, signal), signal);
    if (answer instanceof Uint8Array) {
      yield { type: 'result', status: 200, isRetryable: false, body: answer };
      return;
    }
    onOpened();
    yield { type: 'opened' };
    const { built, variables } = answer;
    const key = JSON.stringify([built.key, query, operationName, variables]);
    const events = readNewRows({ ...answer, key, keyId, bytesMax, reader, newestBlocks, steps, logger, signal });
    for await (const body of events) yield { type: 'event', body };
  }

  async function begin(
    request: ThreadRequest,
    signal: AbortSignal,
  ): Promise<
    JsonBytes | (Pick<NewRowsOptions, 'variables' | 'page' | 'start'> & { readonly built: KeyedSchema })
  > {
    const parsed = parseOperation(request);
    const built = await schemas.read(parsed.lists);
    signal.throwIfAborted();
    const operation = checkOperation(built.schema, parsed);
    const { document, variables } = operation;
    if (operation.definition.operation !== 'subscription') {
      const wanted = { document, operationName: request.operationName ?? null, variables };
      const run = async (withClient: WithPgClient) => {
        const result = await runQuery(built, wanted, withClient, logger);
        signal.throwIfAborted();
        return jsonBytes(result, bytesMax);
      };
      return reader.inSnapshot(run, { signal });
    }
    requireEventStream(request);
    const page = pageQuery(operation);
    const start = await reader.inSnapshot((withClient) => readStart(withClient, page.chainId, page.afterBlock), {
      signal,
    });
    return { built, variables, page, start };
  }

  return {
    async *respond(request, signal) {
      let isOpened = false;
      try {
        yield* replies(request, signal, () => {
          isOpened = true;
        });
      } catch (error) {
        const shown = shownError(error, logger);
        const body: JsonBytes = jsonBytes({ errors: [shown] }, Number.POSITIVE_INFINITY);
        const isRetryable = error instanceof GraphqlRefusalError && error.retryable;
        if (isOpened) yield { type: 'event', body };
        else yield { type: 'result', status: STATUSES[shown.extensions.code] ?? 400, isRetryable, body };
      }
    },
    close: () => reader.close(),
  };
}

const STATUSES: Readonly<Partial<Record<string, 500 | 503>>> = {
  GRAPHQL_FAILED: 500,
  GRAPHQL_BUSY: 503,
  GRAPHQL_ROLE_UNSAFE: 503,
  GRAPHQL_TIMEOUT: 503,
  GRAPHQL_UNAVAILABLE: 503,
};

function requireEventStream({ acceptsEvents }: ThreadRequest): void {
  if (acceptsEvents) return;
  throw new GraphqlRefusalError(
    'GRAPHQL_INVALID',
    'A subscription is a stream of events',
    'Send the header Accept: text/event-stream.',
  );
}
