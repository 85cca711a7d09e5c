import { parseChainId, parseHash } from '@chainstead/core';
import { type ApiDependencies, booleanParameter, type Page, querySchema, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type AttemptFilter, listAttempts } from '../records/attempts.ts';
import { idParameter, limitParameter, listPage, STREAM_LIST } from './list-parameters.ts';

const ITEMS_MAX = 100;
/** Larger timestamps are milliseconds: as seconds, this is the year 5138. */
const SECONDS_MAX = 100_000_000_000;
const MILLISECONDS_MAX = 8_640_000_000_000_000;
const HASH = /^0x[0-9a-f]{64}$/i;
const DELIVERY_STATUSES = ['failed', 'success'];

/** docs/api/streams-reference.md#delivery-log */
function sharedScalars({ parameters }: ApiDependencies) {
  return {
    limit: limitParameter,
    cursor: parameters.cursor,
    streamId: idParameter().optional(),
    transactionHash: textParameter('a transaction hash (0x and 64 hexadecimal digits)', (text) =>
      HASH.test(text) ? text.toLowerCase() : undefined,
    )
      .optional()
      .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }),
    fromTimestamp: timestamp('Earliest time of the attempt, inclusive.'),
    toTimestamp: timestamp('Latest time of the attempt, inclusive.'),
  };
}

function sharedArrays({ chains }: ApiDependencies) {
  return {
    chainId: listParameter('the hexadecimal id of a known chain', (text) =>
      /^0x[0-9a-f]{1,13}$/i.test(text) ? chains.find(text)?.id.toString() : undefined,
    ).openapi({ type: 'array', items: { type: 'string' }, description: 'Also accepted as chainId[]=….' }),
    blockNumber: listParameter('a block number', (text) =>
      /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? String(Number(text)) : undefined,
    ).openapi({ type: 'array', items: { type: 'integer' } }),
  };
}

export function historyQuery(dependencies: ApiDependencies) {
  const excludePayload = booleanParameter({ default: false, description: 'Omits the payload of each webhook.' });
  return querySchema({ ...sharedScalars(dependencies), excludePayload }, sharedArrays(dependencies));
}

export function logsQuery(dependencies: ApiDependencies) {
  return querySchema(sharedScalars(dependencies), {
    ...sharedArrays(dependencies),
    deliveryStatus: listParameter('failed or success', (text) =>
      DELIVERY_STATUSES.find((status) => status === text),
    ).openapi({ type: 'array', items: { type: 'string', enum: DELIVERY_STATUSES } }),
  });
}

const texts = z.array(z.string()).readonly().default([]);

const filterSchema = z.object({
  transactionHash: z.string().nullable().default(null),
  streamId: z.string().nullable().default(null),
  chainId: texts,
  blockNumber: texts,
  deliveryStatus: texts,
  /** Milliseconds. */
  fromTimestamp: z.number().nullable().default(null),
  toTimestamp: z.number().nullable().default(null),
  excludePayload: z.boolean().default(false),
});
type AttemptQuery = z.infer<typeof filterSchema>;

export function attemptList({ database }: Pick<ApiDependencies, 'database'>, list: 'failures' | 'attempts') {
  return {
    ...STREAM_LIST,
    tags: ['Stream deliveries'],
    description: 'Newest first. total is counted up to 10,000.',
    errors: [400, 401, 500, 503],
    cursorName: `stream-${list}`,
    filter: filterSchema,
    position: z.tuple([z.string(), z.string()]),
    read: async ({ filter, limit, position }: Page<AttemptQuery, [string, string]>) => {
      const { attempts, next, total } = await listAttempts(database, {
        filter: attemptFilter(filter, list === 'failures' ? false : null),
        after: position,
        limit,
        withBody: list === 'failures' && !filter.excludePayload,
      });
      return listPage(attempts, next && ([...next] satisfies [string, string]), total);
    },
  } as const;
}

/** `success`: what the list shows; null: `deliveryStatus` decides. */
function attemptFilter(query: AttemptQuery, success: boolean | null): AttemptFilter {
  const [status, ...others] = query.deliveryStatus;
  return {
    success: success ?? (status === undefined || others.length > 0 ? null : status === 'success'),
    streamId: query.streamId,
    transactionHash: query.transactionHash === null ? null : parseHash(query.transactionHash),
    chainIds: query.chainId.map((id) => parseChainId(Number(id))),
    blockNumbers: query.blockNumber.map(Number),
    from: query.fromTimestamp === null ? null : new Date(query.fromTimestamp),
    to: query.toTimestamp === null ? null : new Date(query.toTimestamp),
  };
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
    .optional();
}
