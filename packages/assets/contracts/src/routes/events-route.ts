import { NotFoundError, orderParameter, routesFor, view, wire } from '@chainstead/http';
import { LOG_COLUMNS_ORDER } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { filterTexts, readFilters } from './event-filters.ts';
import { type EventsPage, ROWS_READ_MAX, readEvents } from './events-page.ts';
import { readEvent } from './read-event.ts';

const { integer, text } = wire;
const values = wire.wire(z.record(z.string(), z.unknown()));

const eventView = view(null, (row: EventsPage['rows'][number]) => row, {
  block_number: text({ description: 'Block number in decimal digits', example: '18500000' }, (row) =>
    String(row.block_number),
  ),
  block_hash: text('Hash of the block', ({ block }) => block.block_hash),
  block_timestamp: text('Time of the block, ISO 8601 in UTC', ({ block }) => block.block_timestamp),
  transaction_hash: text('Hash of the transaction'),
  transaction_index: integer('Position of the transaction in the block'),
  log_index: integer('Position of the log in the block'),
  contract_address: text('Address that emitted the event, in lower case', ({ contract }) => contract),
  params: values({
    description:
      'Values by column: integers in decimal digits, bytes and addresses in lower-case hexadecimal, arrays and tuples as JSON. Indexed strings, bytes, arrays and tuples are Keccak-256 hashes',
    example: { owner: '0x83f20f44975d03b1b09e64809b757c47f942beea', assets: '1000000' },
  }),
});

const filters = z
  .custom<readonly string[]>(Array.isArray)
  .optional()
  .transform((texts = []) => texts)
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string' },
    param: { style: 'form', explode: true, required: false },
    description:
      'Filters by column: `owner=0x…` for equality, `assets.gte=1000` for ranges of numbers (gte, gt, lte, lt). Each filtered column needs an index. All filters apply.',
  });

/** docs/api/contracts.md#events */
export const contractEventsRoute = routesFor<unknown>().defineListRoute({
  path: '/api/v2.2/contracts/{name}/{event}',
  operationId: 'getOwnContractEvents',
  tag: 'Contracts',
  summary: 'List decoded events of your own contract',
  description: `Rows of the event's table, newest first by default. Filters need an index on their column; with a range filter, rows are ordered by the filtered column. A page may have fewer rows than requested if ${ROWS_READ_MAX} rows contain no more matching ones. Chainstead extension: the hosted API has no such route.`,
  params: [
    {
      name: z
        .string()
        .openapi({ description: 'Name of the contract from GET /api/v2.2/contracts.', example: 'vault' }),
      event: z.string().openapi({ description: 'Name of the event, in snake case.', example: 'deposit' }),
    },
  ],
  query: [
    'chain',
    'blockBounds',
    'limit',
    { order: orderParameter('Sort order by block number; with a range filter, by the filtered column.') },
    'cursor',
    { filters },
  ],
  spelled(query) {
    const texts = filterTexts(query);
    return texts.length === 0 ? query : { ...query, filters: texts };
  },
  name: 'ContractEvents',
  response: 'A page of decoded events',
  errors: [404],
  position: z.object({ ...LOG_COLUMNS_ORDER.fields, value: z.string().nullable() }),
  firstPage: 0,
  async read({ reads, chain, name, event: eventName, filters: texts, query }): Promise<EventsPage> {
    const event = await readEvent(reads, chain, { name, event: eventName });
    if (event === null) throw notFound(chain.key);
    const wanted = { ...chain, firstBlock: Math.max(chain.firstBlock, event.firstBlock ?? 0) };
    return unlessDropped(chain.key, () =>
      readEvents(reads, wanted, event.table, { ...query, ...readFilters(event, texts) }),
    );
  },
  view: eventView,
  row: (row) => [row],
  fields: (standard) => ({
    ...standard,
    page_size: wire.wire(z.int().min(1))('Requested rows per page', ({ pageSize }) => pageSize),
    result: {
      ...standard.result,
      schema: z.array(eventView.schema).openapi({ description: 'Decoded events' }),
    },
  }),
});

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
