import {
  type ApiDependencies,
  blockBoundsSchema,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  NotFoundError,
  type RouteModule,
} from '@chainstead/http';
import { LOG_COLUMNS_ORDER } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { filterTexts, readFilters } from './event-filters.ts';
import { type EventsPage, ROWS_READ_MAX, readEvents } from './events-page.ts';
import { eventsSchema, showEvents } from './events-response.ts';
import { readEvent } from './read-event.ts';

/** docs/api/contracts.md#events */
export const contractEventsRoute: RouteModule = (app, dependencies) => {
  const { reads } = dependencies;
  defineListRoute(app, dependencies, {
    path: '/api/v2.2/contracts/{name}/{event}',
    operationId: 'getOwnContractEvents',
    tags: ['Contracts'],
    summary: 'List decoded events of your own contract',
    description: `Rows of the event's table, newest first by default. Filters need an index on their column; with a range filter, rows are ordered by the filtered column. A page may have fewer rows than requested if ${ROWS_READ_MAX} rows contain no more matching ones. Chainstead extension: the hosted API has no such route.`,
    params: z.object({
      name: z
        .string()
        .openapi({ description: 'Name of the contract from GET /api/v2.2/contracts.', example: 'vault' }),
      event: z.string().openapi({ description: 'Name of the event, in snake case.', example: 'deposit' }),
    }),
    query: eventsQuery(dependencies),
    response: { description: 'A page of decoded events', schema: eventsSchema },
    errors: [404],
    datasets: [],
    cursorName: 'contract-events',
    filter: z.object({
      name: z.string(),
      event: z.string(),
      chain: z.string().default('eth'),
      filters: z.array(z.string()).readonly().default([]),
      ...blockBoundsSchema,
    }),
    filterOf: ({ name, event, chain, filters, ...given }) => ({
      ...{ name, event, chain: chain?.key },
      filters: filters.length === 0 ? undefined : filters,
      ...givenBlockBounds(given),
    }),
    position: z.object({ ...LOG_COLUMNS_ORDER.fields, value: z.string().nullable() }),
    firstPage: 0,
    read: async (page): Promise<EventsPage> => {
      const { chain, filter } = page;
      const event = await readEvent(reads, chain, filter);
      if (event === null) throw notFound(chain.key);
      const query = chainQueryOf(page);
      const wanted = { ...chain, firstBlock: Math.max(chain.firstBlock, event.firstBlock ?? 0) };
      return unlessDropped(chain.key, () =>
        readEvents(reads, wanted, event.table, { ...query, ...readFilters(event, filter.filters) }),
      );
    },
    present: showEvents,
  });
};

function eventsQuery({ parameters: { chain, blockBounds, limit, order, cursor } }: ApiDependencies) {
  const description = 'Sort order by block number; with a range filter, by the filtered column.';
  const scalars = { chain, ...blockBounds, limit, order: order.openapi({ description }), cursor };
  const filters = z.array(z.string()).openapi({
    type: 'object',
    additionalProperties: { type: 'string' },
    param: { style: 'form', explode: true, required: false },
    description:
      'Filters by column: `owner=0x…` for equality, `assets.gte=1000` for ranges of numbers (gte, gt, lte, lt). Each filtered column needs an index. All filters apply.',
  });
  return z
    .transform((raw: unknown) => {
      const given: Readonly<Record<string, unknown>> = Object(raw);
      return { ...given, filters: filterTexts(given) };
    })
    .pipe(z.object({ ...scalars, filters }));
}

function notFound(chain: string): NotFoundError {
  return new NotFoundError(
    `No such contract or event on chain ${chain}: GET /api/v2.2/contracts lists contracts, chains and events`,
  );
}

const UNDEFINED_TABLE = '42P01';

async function unlessDropped<T>(chain: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) throw notFound(chain);
    throw error;
  }
}
