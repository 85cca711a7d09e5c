import { ChainsteadError, parseDate } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { blockAtTimeKind } from '../dates/block-at-time-reader.ts';
import { CLOSEST, type Closest, closestBlock, type TimedBlock } from '../dates/closest-block.ts';
import { knownNeighbours } from '../dates/known-neighbours.ts';
import { isoOf } from '../records/transaction-response.ts';
import { DEFAULT_CHAIN, requesterOf, type TransactionRouteOptions } from './route-options.ts';

/** `GET /api/v2.2/dateToBlock`: the block closest to a moment (docs/provider-contract.md#dates-to-blocks). */
export function dateToBlockRoute({ lookUps, clock }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads: database } = dependencies;
    app.openapi(dateToBlock(dependencies), async (c) => {
      const query = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const time = query.date === undefined ? Math.floor(clock.now() / 1_000) : query.date.getTime() / 1_000;
      const closest = query.closest ?? 'nearest';
      const known = await closestBlock(time, closest, (at) => knownNeighbours({ database, clock }, chain, at));
      if (known !== null) return c.json(show(time, known), 200);
      const { block } = await lookUps.read({
        chain,
        kind: blockAtTimeKind,
        question: { time, closest },
        isLasting: ({ isHead }) => !isHead,
        requester: requesterOf(c),
      });
      return c.json(show(time, block), 200);
    });
  };
}

function show(time: number, { number, hash, parentHash, timestamp }: TimedBlock): z.infer<typeof dateToBlockSchema> {
  const asked = Math.floor(time);
  return {
    date: isoOf(asked).replace('.000Z', '+00:00'),
    block: number,
    timestamp: asked,
    block_timestamp: isoOf(timestamp),
    hash,
    ...(parentHash !== null && { parent_hash: parentHash }),
  };
}

const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });

const dateToBlockSchema = z
  .object({
    date: z.string().openapi({ example: '2022-12-29T08:39:51+00:00', description: 'What was asked' }),
    block: z.number().openapi({ example: 16289278 }),
    timestamp: z.number().openapi({ example: 1672303191, description: 'What was asked, seconds since 1970' }),
    block_timestamp: z.string().openapi({ example: '2022-12-29T08:39:35.000Z' }),
    hash,
    parent_hash: hash.optional(),
  })
  .openapi('DateToBlock');

const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const dateParameter = textParameter(DATE, readDate)
  .optional()
  .openapi({ type: 'string', description: `Default now. As ${DATE}.` });
const closestParameter = textParameter('nearest, before or after', readClosest)
  .optional()
  .openapi({
    type: 'string',
    enum: [...CLOSEST],
    default: 'nearest',
    description:
      'before: the last block at or before the date. after: the first at or after it. nearest: the nearer of both, at a tie the earlier.',
  });

function readDate(text: string): Date | undefined {
  try {
    return parseDate(text);
  } catch (error) {
    if (error instanceof ChainsteadError) return laterThanCalendars(text.trim());
    throw error;
  }
}

/** Where digits are milliseconds. */
const MILLISECONDS = /^[1-9]\d{11,}$/;

/** Milliseconds that are no date of a common calendar, such as microseconds taken for them: ahead of any head. Undefined for anything else. */
function laterThanCalendars(text: string): Date | undefined {
  const date = MILLISECONDS.test(text) ? new Date(Number(text)) : null;
  return date === null || Number.isNaN(date.getTime()) ? undefined : date;
}

function readClosest(text: string): Closest | undefined {
  return CLOSEST.find((one) => one === text.toLowerCase());
}

function dateToBlock({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/dateToBlock',
    operationId: 'getDateToBlock',
    tags: ['Block'],
    summary: 'The block closest to a date',
    description:
      'Exact: told by indexed blocks, or where those leave a gap, by a search among a node’s headers; 503 where that takes longer than a request waits.',
    request: {
      query: querySchema({ chain: parameters.chain, date: dateParameter, closest: closestParameter }),
    },
    responses: {
      200: { description: 'The block', content: { 'application/json': { schema: dateToBlockSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
