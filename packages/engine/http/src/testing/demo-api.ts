import { createChainRegistry } from '@chainstead/chains';
import {
  ChainsteadError,
  createCursorCodec,
  createMetricsRegistry,
  type Logger,
  silentLogger,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createRoute, z } from '@hono/zod-openapi';
import { type ApiOptions, createApi } from '../api.ts';
import { type ApiApp, requestLogger } from '../api-context.ts';
import type { RouteModule } from '../api-dependencies.ts';
import { ALL_SCOPES, type KeyStore } from '../keys/key-store.ts';
import { type ChainLookup, indexedChain } from '../parameters/indexed-chains.ts';
import { blockBoundsSchema, readBlockBounds } from '../parameters/paging.ts';
import { querySchema } from '../parameters/parameters.ts';
import { errorResponses } from '../requests/error-answer.ts';

/** An API with small routes that use every part of the base, without a database. */
export interface DemoApi {
  readonly app: ApiApp;
  /** Lets `/demo/slow` continue. */
  release(): void;
  /** Resolves when a request has reached `/demo/slow`. */
  readonly entered: Promise<void>;
}

export const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
export const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7';

/** The envelope of an error. */
export interface ErrorBody {
  readonly message: string;
  readonly details?: { readonly errors?: readonly { readonly parameter: string }[] };
}

export async function errorOf(response: Response): Promise<ErrorBody> {
  if (response.headers.get('content-type') !== 'application/json') throw new TypeError('Not an error in JSON');
  return response.json() as Promise<ErrorBody>;
}

export function demoChains(): ChainLookup {
  const registry = createChainRegistry();
  return { find: (text) => registry.find(text) };
}

/** A key store without a database. */
export function fixedKeys(...accepted: readonly string[]): KeyStore {
  const refuse = (): never => {
    throw new TypeError('not part of this test');
  };
  return {
    verify: (key) =>
      accepted.includes(key)
        ? { id: `config:${accepted.indexOf(key) + 1}`, name: 'test', scopes: ALL_SCOPES }
        : null,
    inUse: () => accepted.length > 0,
    create: refuse,
    list: refuse,
    revoke: refuse,
    setScopes: refuse,
    setRateLimit: refuse,
  };
}

/** A database that never connects: nothing listens at its address. */
function noDatabase(): Database {
  return openDatabase({
    url: 'postgres://127.0.0.1:1/none',
    applicationName: 'chainstead-test',
    logger: silentLogger(),
  });
}

export function createDemoApi(options: Partial<ApiOptions> & { readonly logger?: Logger } = {}): DemoApi {
  const slow = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const app = createApi({
    chains: demoChains(),
    database: noDatabase(),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    keys: fixedKeys(),
    cursors: createCursorCodec(Buffer.alloc(32, 7)),
    host: '127.0.0.1',
    cors: { origins: '*' },
    version: '0.0.0-test',
    readiness: async () => ({ ready: true, reasons: [] }),
    routes: [listRoute, bodyRoute, troubleRoutes(slow.promise, entered.resolve)],
    ...options,
    limits: {
      bodyBytesMax: 1_000,
      pageLimitMax: 50,
      requestTimeoutMs: 30_000,
      rateLimit: null,
      ...options.limits,
    },
  });
  return { app, release: slow.resolve, entered: entered.promise };
}

const rowSchema = z.object({ n: z.number() });
const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  contract_addresses: z.array(z.string()).readonly().default([]),
  ...blockBoundsSchema,
});

/** Pages over the numbers 119 down to 0 (or up); the rest of the response shows the parsed parameters. */
const listRoute: RouteModule = (app, { parameters, paging, chains }) => {
  const route = createRoute({
    method: 'get',
    path: '/demo/{address}/rows',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema(
        {
          chain: parameters.chain,
          ...parameters.blockBounds,
          limit: parameters.limit,
          order: parameters.order,
          cursor: parameters.cursor,
        },
        { contract_addresses: parameters.addresses },
      ),
    },
    responses: {
      200: {
        description: 'Rows',
        content: {
          'application/json': {
            schema: z.object({
              page: z.number(),
              page_size: z.number(),
              cursor: z.string().nullable(),
              chain_id: z.number(),
              order: z.string(),
              filter: filterSchema,
              result: z.array(rowSchema),
            }),
          },
        },
      },
      ...errorResponses(400, 401),
    },
  });
  const pages = paging.forRoute({
    route: 'demo-rows',
    filter: filterSchema,
    position: z.number(),
    limitDefault: 20,
  });
  app.openapi(route, (c) => {
    const query = c.req.valid('query');
    const bounds = readBlockBounds(query);
    const page = pages.open({
      cursor: query.cursor,
      limit: query.limit,
      order: query.order,
      filter: {
        address: c.req.valid('param').address,
        chain: query.chain?.key,
        contract_addresses: query.contract_addresses,
        from_block: bounds.from_block ?? undefined,
        to_block: bounds.to_block ?? undefined,
        from_date: bounds.from_date ?? undefined,
        to_date: bounds.to_date ?? undefined,
      },
    });
    const step = page.order === 'ASC' ? 1 : -1;
    const start = page.position === null ? (step === 1 ? 0 : 119) : page.position + step;
    const all = Array.from({ length: 120 }, (_, index) => ({ n: start + index * step }));
    const result = all.filter((row) => row.n >= 0 && row.n < 120).slice(0, page.limit);
    const last = result.at(-1);
    const more = last !== undefined && last.n + step >= 0 && last.n + step < 120;
    return c.json(
      {
        page: page.page,
        page_size: page.limit,
        cursor: more ? pages.next(page, { position: last.n, upperBound: 119 }) : null,
        chain_id: indexedChain(chains, page.filter.chain).id,
        order: page.order,
        filter: page.filter,
        result,
      },
      200,
    );
  });
};

/** The same parameters under another name, for cursors of the wrong list. */
export const otherListRoute: RouteModule = (app, { paging, parameters }) => {
  const pages = paging.forRoute({
    route: 'demo-other',
    filter: filterSchema,
    position: z.number(),
    limitDefault: 20,
  });
  const route = createRoute({
    method: 'get',
    path: '/demo/other',
    request: { query: querySchema({ cursor: parameters.cursor }) },
    responses: { 200: { description: 'Filter' } },
  });
  app.openapi(route, (c) => {
    return c.json(
      pages.open({ cursor: c.req.valid('query').cursor, limit: undefined, order: undefined, filter: {} }),
    );
  });
};

const bodyRoute: RouteModule = (app) => {
  const route = createRoute({
    method: 'post',
    path: '/demo/things',
    request: {
      body: {
        required: true,
        content: {
          'application/json': { schema: z.object({ name: z.string().max(20), size: z.int().optional() }) },
        },
      },
    },
    responses: {
      200: { description: 'Thing', content: { 'application/json': { schema: z.object({ name: z.string() }) } } },
      ...errorResponses(400, 413),
    },
  });
  app.openapi(route, (c) => c.json({ name: c.req.valid('json').name }, 200));
};

function troubleRoutes(slow: Promise<void>, onEnter: () => void): RouteModule {
  return (app, { logger }) => {
    app.get('/demo/broken', () => {
      throw new Error('password=hunter2 at 10.0.0.5');
    });
    app.get('/demo/database-away', () => {
      throw new ChainsteadError({ code: 'DATABASE_AWAY', message: 'host db.internal is away', retryable: true });
    });
    app.get('/demo/slow', async (c) => {
      onEnter();
      await slow;
      return c.json({ done: true });
    });
    app.get('/demo/logs', (c) => {
      requestLogger(c, logger).info('Said by the route');
      return c.json({ text: 'x'.repeat(10_000) });
    });
    app.get('/demo/small', (c) => c.json({ ok: true }));
  };
}
