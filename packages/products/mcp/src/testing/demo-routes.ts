import type { RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';

const rowSchema = z.object({ n: z.number(), text: z.string() });
const indexedSchema = z.object({ from_block: z.string(), to_block: z.string(), complete: z.boolean() });

/** Rows of `/demo`. */
export const DEMO_ROWS = 60;

/**
 * Routes with the operation ids of tools, whose responses depend on their parameters: a paged list with large
 * rows, a bare array with coverage in headers, and a single object.
 */
export const demoRoutes: readonly RouteModule[] = [
  (app) =>
    app.openapi(
      createRoute({
        method: 'get',
        path: '/api/v2.2/{address}/erc20/transfers',
        operationId: 'getWalletTokenTransfers',
        request: {
          params: z.object({ address: z.string().regex(/^0x/) }),
          query: z.object({
            limit: z.coerce.number().int().min(1).default(100),
            cursor: z.string().optional(),
            bytes: z.coerce.number().int().default(10),
          }),
        },
        responses: {
          200: {
            description: 'Rows',
            content: {
              'application/json': {
                schema: z.object({
                  result: z.array(rowSchema),
                  cursor: z.string().nullable(),
                  indexed: indexedSchema,
                }),
              },
            },
          },
        },
      }),
      (c) => {
        const { limit, cursor = '0', bytes } = c.req.valid('query');
        const start = Number(cursor);
        const result = Array.from({ length: Math.min(limit, DEMO_ROWS - start) }, (_, index) => ({
          n: start + index,
          text: 'é'.repeat(bytes / 2),
        }));
        const next = start + result.length;
        return c.json(
          {
            result,
            cursor: next < DEMO_ROWS ? String(next) : null,
            indexed: { from_block: '5', to_block: '9', complete: bytes === 10 },
          },
          200,
        );
      },
    ),
  (app) =>
    app.openapi(
      createRoute({
        method: 'get',
        path: '/api/v2.2/erc20/metadata',
        operationId: 'getTokenMetadata',
        request: { query: z.object({ addresses: z.union([z.string(), z.array(z.string())]) }) },
        responses: {
          200: { description: 'Rows', content: { 'application/json': { schema: z.array(z.string()) } } },
        },
      }),
      (c) => {
        c.header('x-indexed-complete', 'false');
        return c.json([c.req.valid('query').addresses].flat(), 200);
      },
    ),
  (app) =>
    app.openapi(
      createRoute({
        method: 'get',
        path: '/api/v2.2/resolve/ens/{domain}',
        operationId: 'resolveENSDomain',
        request: { params: z.object({ domain: z.string() }) },
        responses: {
          200: {
            description: 'Domain and caller',
            content: {
              'application/json': { schema: z.object({ domain: z.string(), by: z.string().nullable() }) },
            },
          },
        },
      }),
      (c) => {
        const { domain } = c.req.valid('param');
        if (domain === 'broken') throw new Error('postgres://secret@db.internal');
        return c.json({ domain, by: c.get('principal')?.id ?? null }, 200);
      },
    ),
  ...echoRoutes(),
];

/** Net worth of two chains, and routes that return their query. */
function echoRoutes(): RouteModule[] {
  const params = z.object({ address: z.string() });
  const text = z.string().optional();
  const limit = z
    .string()
    .optional()
    .openapi({ type: 'integer', description: 'Rows. Higher values are lowered to 1000.' });
  const date = text.openapi({ description: 'Start, inclusive. Required without a cursor.' });
  const responses = {
    200: { description: 'Any', content: { 'application/json': { schema: z.record(z.string(), z.unknown()) } } },
  };
  const get = { method: 'get', responses } as const;
  const chains = [
    { chain: 'eth', indexed: { from_block: '1', to_block: '9', complete: true } },
    { chain: 'base', indexed: { from_block: '2', to_block: '3', complete: false } },
  ];
  const query = z.object({ fromDate: date, toDate: date, limit, cursor: text });
  return [
    (app) =>
      app.openapi(
        createRoute({
          ...get,
          path: '/net-worth/{address}',
          operationId: 'getWalletNetWorth',
          request: { params },
        }),
        (c) => c.json({ chains }, 200),
      ),
    (app) =>
      app.openapi(
        createRoute({
          ...get,
          path: '/ohlcv/{address}',
          operationId: 'getPairCandlesticks',
          request: { params, query },
        }),
        (c) => c.json({ cursor: 'next', ...queryOf(c.req.url) }, 200),
      ),
    (app) =>
      app.openapi(
        createRoute({
          ...{ ...get, path: '/price/{address}', operationId: 'getTokenPrice' },
          request: { params, query: z.object({ explain: text }) },
        }),
        (c) => c.json(queryOf(c.req.url), 200),
      ),
  ];
}

function queryOf(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams);
}
