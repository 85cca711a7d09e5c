import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexBytes, rawSql, rowsAfter, type Sql, sql, where } from '@chainstead/db';

export interface DeliveryAttempt {
  readonly id: string;
  readonly deliveryId: string;
  readonly streamId: string;
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly confirmed: boolean;
  readonly webhookUrl: string;
  readonly tag: string;
  readonly retries: number;
  readonly success: boolean;
  readonly httpStatus: number | null;
  readonly errorMessage: string;
  /** Text of a recent failure; null if not requested, or too long to show. */
  readonly body: string | null;
  readonly records: number;
  readonly durationMs: number;
  readonly createdAt: Date;
}

/** Null or empty: any. */
export interface AttemptFilter {
  readonly success: boolean | null;
  readonly streamId: string | null;
  readonly transactionHash: Hash | null;
  readonly chainIds: readonly ChainId[];
  readonly blockNumbers: readonly number[];
  /** Inclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
}

export type AttemptPosition = readonly [createdAt: string, id: string];

export interface AttemptPage {
  readonly attempts: readonly DeliveryAttempt[];
  readonly total: number;
  readonly next: AttemptPosition | null;
}

export interface AttemptListRequest {
  readonly filter: AttemptFilter;
  readonly after: AttemptPosition | null;
  readonly limit: number;
  readonly withBody: boolean;
}

/** An exact count would read the whole table. */
const TOTAL_MAX = 10_000;
const COLUMNS = sql`id, delivery_id, stream_id, chain_id, block_number,
  confirmed, webhook_url, tag, retries, success, http_status,
  coalesce(error_message, '') AS "errorMessage", records, duration_ms, created_at`;

/** Lists and replays omit longer bodies: a response has at most twice as much. */
export const SHOWN_BODY_BYTES_MAX = 4 * 1024 * 1024;
const SHOWN_BODY = sql`CASE WHEN octet_length(body) <= ${SHOWN_BODY_BYTES_MAX} THEN body END AS body`;

export async function listAttempts(database: Database, request: AttemptListRequest): Promise<AttemptPage> {
  const { after, limit, withBody } = request;
  const conditions = conditionsOf(request.filter);
  const start =
    after === null ? [] : [rowsAfter('DESC', ['created_at', 'id'], [sql`${after[0]}`, sql`${after[1]}::uuid`])];
  const counting = database.query<{ total: number }>(
    sql`SELECT count(*) AS total FROM (SELECT 1 FROM stream_attempts ${where(conditions)} LIMIT ${rawSql(TOTAL_MAX)}) AS counted`,
  );
  const reading = database.query<DeliveryAttempt & { createdText: string }>(
    sql`SELECT ${COLUMNS}, ${withBody ? SHOWN_BODY : sql`NULL AS body`}, created_at::text AS "createdText" FROM stream_attempts
     ${where([...conditions, ...start])} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`,
  );
  const [rows, [count]] = await Promise.all([reading, counting]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    attempts: page.map(({ createdText: _, ...attempt }) => attempt),
    total: count?.total ?? 0,
    next: last === undefined || rows.length === page.length ? null : [last.createdText, last.id],
  };
}

/** Newest first, without bodies. Index: stream_attempts_by_block. */
export function listAttemptsOf(
  database: Database,
  { id, chainId, blockNumber }: { readonly id: string; readonly chainId: ChainId; readonly blockNumber: number },
  limit: number,
): Promise<DeliveryAttempt[]> {
  return database.query<DeliveryAttempt>(
    sql`SELECT ${COLUMNS}, NULL AS body FROM stream_attempts WHERE chain_id = ${chainId} AND block_number = ${blockNumber} AND delivery_id = ${id}
     ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
  );
}

export async function findFailedAttempt(
  database: Database,
  streamId: string,
  id: string,
): Promise<DeliveryAttempt | null> {
  const [attempt = null] = await database.query<DeliveryAttempt>(
    sql`SELECT ${COLUMNS}, ${SHOWN_BODY} FROM stream_attempts WHERE id = ${id} AND stream_id = ${streamId} AND NOT success`,
  );
  return attempt;
}

/** `success` is inlined: the planner uses the index of failures only for a literal. */
function conditionsOf(filter: AttemptFilter): readonly Sql[] {
  const { success, streamId, chainIds, blockNumbers, from, to, transactionHash } = filter;
  return [
    ...(success === null ? [] : [success ? sql`success` : sql`NOT success`]),
    ...(streamId === null ? [] : [sql`stream_id = ${streamId}`]),
    ...(chainIds.length === 0 ? [] : [sql`chain_id = ANY (${chainIds}::bigint[])`]),
    ...(blockNumbers.length === 0 ? [] : [sql`block_number = ANY (${blockNumbers}::bigint[])`]),
    ...(from === null ? [] : [sql`created_at >= ${from}`]),
    ...(to === null ? [] : [sql`created_at <= ${to}`]),
    ...(transactionHash === null ? [] : [isOfTransaction(transactionHash)]),
  ];
}

/** Blocks of two forks may share a number, so the hash identifies the match. */
function isOfTransaction(hash: Hash): Sql {
  return sql`id IN (
    SELECT a.id FROM stream_match_transactions t
    JOIN stream_attempts a ON a.chain_id = t.chain_id AND a.block_number = t.block_number AND a.stream_id = t.stream_id
    JOIN stream_deliveries d ON d.id = a.delivery_id AND d.block_hash = t.block_hash
    WHERE t.transaction_hash = ${hexBytes(hash)})`;
}
