import { createDefinitionReader, type DefinitionReader, stateOfName } from '@chainstead/contracts';
import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, rowsAfter, type Sql, sql, where } from '@chainstead/db';
import type { Stream, StreamStatus } from '../stream.ts';
import { readDeferred, type StreamDeferral } from './deferred-matches.ts';
import type { StreamPosition } from './stream-store.ts';

export interface StreamOverview {
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly webhookUrl: string;
  readonly chainIds: readonly ChainId[];
  readonly contracts: readonly string[] | null;
  readonly status: StreamStatus;
  readonly statusMessage: string;
  readonly amountOfAddresses: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Percent, of the webhook URL, which streams may share. */
  readonly successRate: number;
  readonly delivered: number;
  readonly failed: number;
  readonly waiting: number;
  /** Newest failure among the last attempts; null: none failed. */
  readonly lastError: { readonly message: string; readonly at: Date } | null;
}

interface OverviewListRequest {
  readonly status: StreamStatus | null;
  /** Part of id, tag, description or URL, in any case; null: any. */
  readonly text: string | null;
  readonly after: StreamPosition | null;
  readonly limit: number;
}

export interface OverviewPage {
  readonly streams: readonly StreamOverview[];
  readonly next: StreamPosition | null;
}

/** Per stream; an exact count would read all pending rows. */
export const WAITING_COUNTED_MAX = 10_000;
const LATELY = 100;

interface OverviewRow extends Omit<StreamOverview, 'lastError'> {
  readonly error: string | null;
  readonly errorAt: Date | null;
  readonly place: string;
}

export async function listStreamOverviews(
  database: Database,
  request: OverviewListRequest,
): Promise<OverviewPage> {
  const { status, text, after, limit } = request;
  const conditions = [
    ...(status === null ? [] : [sql`status = ${status}`]),
    ...(text === null
      ? []
      : [sql`position(lower(${text}::text) IN lower(concat_ws(' ', id, tag, description, webhook_url))) > 0`]),
    ...(after === null
      ? []
      : [rowsAfter('DESC', ['created_at', 'id'], [sql`${after[0]}::timestamptz`, sql`${after[1]}::uuid`])]),
  ];
  const rows = await database.query<OverviewRow>(
    overviewsOf(conditions, sql`ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`),
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    streams: await createDescribeStreams()(database, page.map(overviewOf)),
    next: last === undefined || rows.length === page.length ? null : [last.place, last.id],
  };
}

export async function readStreamOverview(database: Database, id: string): Promise<StreamOverview | null> {
  const [row] = await database.query<OverviewRow>(overviewsOf([sql`id = ${id}`]));
  if (row === undefined) return null;
  const [described = null] = await createDescribeStreams()(database, [overviewOf(row)]);
  return described;
}

/** A short range of stream_deliveries_pending_by_stream and stream_attempts_by_stream each. */
function overviewsOf(conditions: readonly Sql[], order: Sql = sql``): Sql {
  return sql`SELECT page.id, tag, description, webhook_url, chain_ids, contracts, status, status_message,
       amount_of_addresses, page.created_at, page.updated_at,
       page.created_at::text AS place, coalesce(h.success_rate, 100) AS "successRate",
       coalesce(st.webhooks_delivered, 0) AS delivered, coalesce(st.webhooks_failed, 0) AS failed,
       waiting.webhooks AS waiting, failure.error_message AS error, failure.created_at AS "errorAt"
     FROM (
       SELECT id, tag, description, webhook_url, chain_ids, contracts, status, status_message, amount_of_addresses, created_at, updated_at
       FROM streams ${where([sql`deleted_at IS NULL`, ...conditions])} ${order}
     ) AS page
     LEFT JOIN webhook_health h USING (webhook_url)
     LEFT JOIN stream_stats st ON st.stream_id = page.id
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS webhooks FROM (
         SELECT FROM stream_deliveries d WHERE d.stream_id = page.id AND d.status = 'pending' LIMIT ${rawSql(WAITING_COUNTED_MAX)}) AS counted
     ) AS waiting
     LEFT JOIN LATERAL (
       SELECT error_message, created_at FROM (
         SELECT success, error_message, created_at FROM stream_attempts a
         WHERE a.stream_id = page.id AND st.webhooks_failed > 0 ORDER BY a.created_at DESC, a.id DESC LIMIT ${rawSql(LATELY)}) AS lately
       WHERE NOT success ORDER BY created_at DESC LIMIT 1
     ) AS failure ON true
     ORDER BY page.created_at DESC, page.id DESC`;
}

function overviewOf({ error, errorAt, place: _, ...row }: OverviewRow): StreamOverview {
  return { ...row, lastError: errorAt === null ? null : { message: error ?? '', at: errorAt } };
}

/** Names contracts that match nothing, and deferred blocks, in the status messages of active streams. */
export type DescribeStreams = <Described extends DescribedStream>(
  database: Pick<Database, 'query'>,
  streams: readonly Described[],
) => Promise<readonly Described[]>;

type DescribedStream = Pick<Stream, 'id' | 'contracts' | 'chainIds' | 'status' | 'statusMessage'>;

export function createDescribeStreams(): DescribeStreams {
  const readDefinitions = createDefinitionReader();
  return async (database, streams) => {
    const deferred = await readDeferred(
      database,
      streams.map(({ id }) => id),
    );
    const haveContracts = streams.some(({ contracts }) => contracts !== null && contracts.length > 0);
    if (!haveContracts && deferred.length === 0) return streams;
    const definitions = haveContracts ? await readDefinitions(database) : [];
    return streams.map((stream) => ({
      ...stream,
      statusMessage: messageOf(
        stream,
        definitions,
        deferred.filter(({ streamId }) => streamId === stream.id),
      ),
    }));
  };
}

function messageOf(
  { contracts, chainIds, status, statusMessage }: DescribedStream,
  definitions: Awaited<ReturnType<DefinitionReader>>,
  deferred: readonly StreamDeferral[],
): string {
  if (status !== 'active') return statusMessage;
  const states = (contracts ?? []).map((name) => ({ name, ...stateOfName(definitions, name, chainIds) }));
  const suspended = states.filter(({ kind }) => kind === 'suspended').map(({ name }) => name);
  const removed = states.filter(({ kind }) => kind !== 'suspended' && kind !== 'indexed').map(({ name }) => name);
  return [
    statusMessage,
    ...(removed.length === 0
      ? []
      : [`Contracts without matches, because they are not indexed: ${listed(removed)}`]),
    ...(suspended.length === 0
      ? []
      : [`Contracts without matches, because they are suspended: ${listed(suspended)}`]),
    ...deferred.map(
      ({ chainId, firstBlock, blocks }) =>
        `Blocks of chain ${chainId} to match later, because they exceed the work of a key per block: ${blocks}, from block ${firstBlock}`,
    ),
  ].join('. ');
}

const LISTED_MAX = 10;

export function listed(names: readonly string[]): string {
  const more = names.length - LISTED_MAX;
  return [...names.slice(0, LISTED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
