import { parseChainId, parseHash } from '@chainstead/core';
import { type ApiDependencies, booleanParameter, querySchema, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type AttemptFilter, type DeliveryAttempt, listAttempts } from '../records/attempts.ts';
import { idParameter, limitParameter, openPage } from './list-parameters.ts';

const ITEMS_MAX = 100;
/** Above this, a timestamp is in milliseconds: in seconds it would be the year 5138. */
const SECONDS_MAX = 100_000_000_000;
const MILLISECONDS_MAX = 8_640_000_000_000_000;
const HASH = /^0x[0-9a-f]{64}$/i;
const DELIVERY_STATUSES = ['failed', 'success'];

/** What the lists of attempts filter by, in the one form that cursors keep. */
interface AttemptQuery {
  readonly transactionHash: string | null;
  readonly streamId: string | null;
  /** Decimal. */
  readonly chainId: readonly string[];
  readonly blockNumber: readonly string[];
  readonly deliveryStatus: readonly string[];
  /** Milliseconds. */
  readonly fromTimestamp: number | null;
  readonly toTimestamp: number | null;
  readonly excludePayload: boolean;
}

/** Parameters that `/history` and `/history/logs` share (docs/provider-contract.md#delivery-log). */
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
  const excludePayload = booleanParameter({ default: false, description: 'Leaves the payload of each webhook out.' });
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

type Given<Members> = { readonly [Name in keyof Members]?: Members[Name] | undefined };

/** A request of one of the lists, as its schema reads it. */
export type AttemptRequest = Given<AttemptQuery> & { readonly limit: number; readonly cursor?: string | undefined };

export interface AttemptResults {
  readonly attempts: readonly DeliveryAttempt[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
  readonly total: number;
}

const texts = z.array(z.string()).readonly();
const filterSchema = z.object({
  transactionHash: z.string().nullable(),
  streamId: z.string().nullable(),
  chainId: texts,
  blockNumber: texts,
  deliveryStatus: texts,
  fromTimestamp: z.number().nullable(),
  toTimestamp: z.number().nullable(),
  excludePayload: z.boolean(),
});
const NO_FILTER: AttemptQuery = {
  transactionHash: null,
  streamId: null,
  chainId: [],
  blockNumber: [],
  deliveryStatus: [],
  fromTimestamp: null,
  toTimestamp: null,
  excludePayload: false,
};

/** Gives pages of one of the lists; its cursors work on no other. Of `failures`, the bodies come along. */
export function attemptList({ paging, database }: ApiDependencies, list: 'failures' | 'attempts') {
  const pages = paging.forRoute({
    route: `stream-${list}`,
    filter: filterSchema,
    position: z.tuple([z.string(), z.string()]),
    defaults: { ...NO_FILTER },
    limitDefault: 1,
  });
  return async ({ limit, cursor, ...given }: AttemptRequest): Promise<AttemptResults> => {
    const filter = { ...UNASKED, ...given };
    const page = openPage(() => pages.open({ cursor, limit, order: undefined, filter }));
    const { attempts, next, total } = await listAttempts(database, {
      filter: attemptFilter(page.filter, { success: list === 'failures' ? false : null }),
      after: page.position,
      limit,
      withBody: list === 'failures' && !page.filter.excludePayload,
    });
    const following = next === null ? undefined : pages.next(page, { position: [...next], upperBound: 0 });
    return { attempts, cursor: following, total };
  };
}

const UNASKED = {
  transactionHash: undefined,
  streamId: undefined,
  chainId: undefined,
  blockNumber: undefined,
  deliveryStatus: undefined,
  fromTimestamp: undefined,
  toTimestamp: undefined,
  excludePayload: undefined,
};

/** `success`: what the list is of; null where `deliveryStatus` says. */
function attemptFilter(query: AttemptQuery, { success }: Pick<AttemptFilter, 'success'>): AttemptFilter {
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

/** A list whose items are read one by one, sorted, each once. */
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
