import { parseChainId, parseHash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { booleanParameter, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type AttemptListRequest, listAttempts } from '../records/attempts.ts';
import { idParameter, limitParameter, listPage, NEWEST_FIRST, STREAM_LIST } from './define-stream-route.ts';
import type { StreamChains } from './stream-schema.ts';

const ITEMS_MAX = 100;
/** Larger timestamps are milliseconds: as seconds, this is the year 5138. */
const SECONDS_MAX = 100_000_000_000;
const MILLISECONDS_MAX = 8_640_000_000_000_000;
const HASH = /^0x[0-9a-f]{64}$/i;
const DELIVERY_STATUSES = ['failed', 'success'];

/** docs/api/streams-reference.md#delivery-log */
const attemptScalars = {
  streamId: idParameter().optional(),
  transactionHash: textParameter('a transaction hash (0x and 64 hexadecimal digits)', (text) =>
    HASH.test(text) ? text.toLowerCase() : undefined,
  )
    .optional()
    .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }),
  fromTimestamp: timestamp('Earliest time of the attempt, inclusive.'),
  toTimestamp: timestamp('Latest time of the attempt, inclusive.'),
};

const attemptLists = (chains: StreamChains) => ({
  chainId: listParameter('the hexadecimal id of a known chain', (text) =>
    /^0x[0-9a-f]{1,13}$/i.test(text) ? chains.find(text)?.id.toString() : undefined,
  ).openapi({ type: 'array', items: { type: 'string' }, description: 'Also accepted as chainId[]=….' }),
  blockNumber: listParameter('a block number', (text) =>
    /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? String(Number(text)) : undefined,
  ).openapi({ type: 'array', items: { type: 'integer' } }),
});

export const historyQuery = (chains: StreamChains) =>
  [
    { limit: limitParameter },
    'cursor',
    attemptScalars,
    {
      excludePayload: booleanParameter({
        default: false,
        description: 'Omits the payload of each webhook.',
      }).default(false),
    },
    attemptLists(chains),
  ] as const;

export const logsQuery = (chains: StreamChains) =>
  [
    { limit: limitParameter },
    'cursor',
    attemptScalars,
    attemptLists(chains),
    {
      deliveryStatus: listParameter('failed or success', (text) =>
        DELIVERY_STATUSES.find((status) => status === text),
      ).openapi({ type: 'array', items: { type: 'string', enum: DELIVERY_STATUSES } }),
    },
  ] as const;

interface AttemptQuery {
  readonly transactionHash?: string | undefined;
  readonly streamId?: string | undefined;
  readonly chainId: readonly string[];
  readonly blockNumber: readonly string[];
  readonly fromTimestamp?: number | undefined;
  readonly toTimestamp?: number | undefined;
}

export const ATTEMPT_LIST = {
  ...STREAM_LIST,
  tag: 'Stream deliveries',
  description: 'Newest first. total is counted up to 10,000.',
  position: NEWEST_FIRST,
} as const;

/** @param success null: both */
export async function readAttempts(
  {
    database,
    query: { limit, after },
    ...sent
  }: AttemptQuery & {
    readonly database: Database;
    readonly query: Pick<AttemptListRequest, 'limit' | 'after'>;
  },
  success: boolean | null,
  withBody = false,
) {
  const filter = {
    success,
    streamId: sent.streamId ?? null,
    transactionHash: sent.transactionHash === undefined ? null : parseHash(sent.transactionHash),
    chainIds: sent.chainId.map((id) => parseChainId(Number(id))),
    blockNumbers: sent.blockNumber.map(Number),
    from: sent.fromTimestamp === undefined ? null : new Date(sent.fromTimestamp),
    to: sent.toTimestamp === undefined ? null : new Date(sent.toTimestamp),
  };
  const { attempts, next, total } = await listAttempts(database, { filter, after, limit, withBody });
  return listPage(attempts, next && ([...next] satisfies [string, string]), total);
}

function timestamp(description: string) {
  return textParameter('a Unix timestamp', (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    const milliseconds = value > SECONDS_MAX ? value : value * 1_000;
    return milliseconds <= MILLISECONDS_MAX ? milliseconds : undefined;
  })
    .optional()
    .openapi({ type: 'integer', minimum: 0, description: `${description} Seconds or milliseconds.` });
}

function listParameter(allowed: string, parse: (text: string) => string | undefined) {
  return z
    .array(z.string())
    .max(ITEMS_MAX)
    .transform((texts, ctx): readonly string[] => {
      const values = new Set<string>();
      for (const [index, text] of texts.entries()) {
        const value = parse(text);
        if (value === undefined)
          ctx.addIssue({ code: 'custom', message: `must be ${allowed}`, path: [index], params: { given: text } });
        else values.add(value);
      }
      return [...values].sort();
    })
    .optional()
    .transform((values = []) => values);
}
