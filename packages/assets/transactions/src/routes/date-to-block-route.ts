import { ChainsteadError, parseDate } from '@chainstead/core';
import { defineRoute, type RouteModule, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { blockAtTimeKind } from '../dates/block-at-time-reader.ts';
import { CLOSEST, closestBlock, knownNeighbours, type TimedBlock } from '../dates/search-times.ts';
import { isoOf } from '../records/transaction-response.ts';
import type { TransactionRouteOptions } from './route-options.ts';

/** docs/api/blocks.md#dates-to-blocks */
export function dateToBlockRoute({ onDemandReads, clock }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { reads: database, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/dateToBlock',
      operationId: 'getDateToBlock',
      tags: ['Blocks and transactions'],
      summary: 'Get the block closest to a date',
      description:
        'Exact result from indexed blocks, or from a search of the block headers of a node if blocks are missing. Returns 503 if the search exceeds `ON_DEMAND_WAIT_MS`.',
      query: { chain: parameters.chain, date: dateParameter, closest: closestParameter },
      response: { description: 'The block', schema: dateToBlockSchema },
      async answer({ chain, date, closest = 'nearest', requester }) {
        const time = date === undefined ? Math.floor(clock.now() / 1_000) : date.getTime() / 1_000;
        const known = await closestBlock(time, closest, (at) => knownNeighbours({ database, clock }, chain, at));
        if (known !== null) return show(time, known);
        const { block } = await onDemandReads.read({
          chain,
          kind: blockAtTimeKind,
          question: { time, closest },
          isLasting: ({ isHead }) => !isHead,
          requester,
        });
        return show(time, block);
      },
    });
  };
}

function show(
  time: number,
  { number, hash, parentHash, timestamp }: TimedBlock,
): z.infer<typeof dateToBlockSchema> {
  const requested = Math.floor(time);
  return {
    date: isoOf(requested).replace('.000Z', '+00:00'),
    block: number,
    timestamp: requested,
    block_timestamp: isoOf(timestamp),
    hash,
    ...(parentHash !== null && { parent_hash: parentHash }),
  };
}

const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });

const dateToBlockSchema = z
  .object({
    date: z.string().openapi({ example: '2022-12-29T08:39:51+00:00', description: 'The requested date' }),
    block: z.number().openapi({ example: 16289278 }),
    timestamp: z.number().openapi({ example: 1672303191, description: 'The requested date in Unix seconds' }),
    block_timestamp: z.string().openapi({ example: '2022-12-29T08:39:35.000Z' }),
    hash,
    parent_hash: hash.optional(),
  })
  .openapi('DateToBlock');

const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';
const dateParameter = textParameter(DATE, readDate)
  .optional()
  .openapi({ type: 'string', description: `Default: now. Format: ${DATE}.` });
const closestParameter = textParameter('nearest, before or after', (text) =>
  CLOSEST.find((closest) => closest === text.toLowerCase()),
)
  .optional()
  .openapi({
    type: 'string',
    enum: [...CLOSEST],
    default: 'nearest',
    description:
      'before: the last block at or before the date. after: the first block at or after it. nearest: the nearer of both, the earlier if equal.',
  });

function readDate(text: string): Date | undefined {
  try {
    return parseDate(text);
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    // Milliseconds beyond calendars, such as microseconds, are after any head.
    const date = MILLISECONDS.test(text.trim()) ? new Date(Number(text)) : null;
    return date === null || Number.isNaN(date.getTime()) ? undefined : date;
  }
}

const MILLISECONDS = /^[1-9]\d{11,}$/;
