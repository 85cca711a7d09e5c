import { ChainsteadError, parseDate } from '@chainstead/core';
import { textParameter, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { blockAtTimeKind } from '../dates/block-at-time-reader.ts';
import { CLOSEST, closestBlock, knownNeighbours, type TimedBlock } from '../dates/search-times.ts';
import { isoOf, second } from '../records/transaction-response.ts';
import { defineRoute } from './routes.ts';

const { hash, text } = wire;
const number = wire.wire(z.number());

const dateToBlockView = view(
  'DateToBlock',
  (time: number, block: TimedBlock) => ({ ...block, time: Math.floor(time) }),
  {
    date: text({ example: '2022-12-29T08:39:51+00:00', description: 'The requested date' }, ({ time }) =>
      isoOf(time).replace('.000Z', '+00:00'),
    ),
    block: number({ example: 16289278 }, (block) => block.number),
    timestamp: number({ example: 1672303191, description: 'The requested date in Unix seconds' }, 'time'),
    block_timestamp: second({ example: '2022-12-29T08:39:35.000Z' }, 'timestamp'),
    hash: hash(),
    parent_hash: hash.orAbsent.of('parentHash'),
  },
);

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

/** docs/api/blocks.md#dates-to-blocks */
export const dateToBlockRoute = defineRoute({
  path: '/api/v2.2/dateToBlock',
  operationId: 'getDateToBlock',
  tag: 'Blocks and transactions',
  summary: 'Get the block closest to a date',
  description:
    'Exact result from indexed blocks, or from a search of the block headers of a node if blocks are missing. Returns 503 if the search exceeds `ON_DEMAND_WAIT_MS`.',
  query: ['chain', { date: dateParameter, closest: closestParameter }],
  response: { description: 'The block', schema: dateToBlockView.schema },
  async answer({
    reads: database,
    services: { onDemandReads, clock },
    chain,
    date,
    closest = 'nearest',
    requester,
  }) {
    const time = date === undefined ? Math.floor(clock.now() / 1_000) : date.getTime() / 1_000;
    const known = await closestBlock(time, closest, (at) => knownNeighbours({ database, clock }, chain, at));
    if (known !== null) return dateToBlockView.show(time, known);
    const { block } = await onDemandReads.read({
      chain,
      kind: blockAtTimeKind,
      question: { time, closest },
      isLasting: ({ isHead }) => !isHead,
      requester,
    });
    return dateToBlockView.show(time, block);
  },
});
