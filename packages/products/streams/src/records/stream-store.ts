import { randomUUID } from 'node:crypto';
import type { Address } from '@chainstead/core';
import { asSql, type Database, joinSql, rowsAfter, sql, type Transaction, where } from '@chainstead/db';
import { type AuditActor, defineApiError } from '@chainstead/http';
import type { Stream, StreamConfig, StreamStatus } from '../stream.ts';
import { trustWebhook } from './change-status.ts';
import { addAddresses, auditStream, raiseStreamsVersion } from './stream-addresses.ts';
import {
  DEFAULT_BOUNDS,
  requireRoomForAddresses,
  requireRoomForConfigs,
  requireRoomForStream,
  type StreamBounds,
} from './stream-bounds.ts';
import {
  CONFIG_COLUMNS,
  configValues,
  insertStatement,
  STREAM_COLUMNS,
  type StoredStream,
  streamOf,
} from './stream-row.ts';

export type StreamPosition = readonly [createdAt: string, id: string];

export interface StreamPage {
  readonly streams: readonly Stream[];
  readonly total: number;
  readonly next: StreamPosition | null;
}

export interface StreamListRequest {
  readonly status: StreamStatus | null;
  readonly after: StreamPosition | null;
  readonly limit: number;
}

/** A change raises the version in its transaction: it applies from the next block on. */
export interface StreamStore {
  /** Returns an identical stream unless it is terminated. @throws TooManyStreamsError, StreamConfigsTooLargeError */
  create(config: StreamConfig, by: AuditActor): Promise<Stream>;
  /** @throws IdenticalStreamError, TooManyStreamsError, TooManyAddressesError, … */
  createWatching(config: StreamConfig, addresses: readonly Address[], by: AuditActor): Promise<Stream>;
  get(id: string): Promise<Stream | null>;
  list(request: StreamListRequest): Promise<StreamPage>;
  /** `change` gets the locked stream and may throw to leave it unchanged. */
  update(id: string, change: (current: Stream) => StreamConfig, by: AuditActor): Promise<Stream | null>;
  /** @throws TooManyStreamsError, TooManyAddressesError, TooManyKeyAddressesError */
  duplicate(id: string, by: AuditActor): Promise<Stream | null>;
  /** Drops pending webhooks; sent ones stay readable. @returns the stream before its removal */
  remove(id: string, by: AuditActor): Promise<Stream | null>;
}

/** docs/api/streams-reference.md#stream-record */
export const ACTIVE_MESSAGE = 'Stream is active';
const JOB_OF_DELETED_STREAM = 'The stream was deleted';
const ADDRESS_BATCH = 50_000;

export function createStreamStore(database: Database, bounds: StreamBounds = DEFAULT_BOUNDS): StreamStore {
  return {
    create: (config, by) => database.transaction((transaction) => createStream(transaction, config, by, bounds)),
    createWatching: (config, addresses, by) =>
      database.transaction((transaction) => createWatching(transaction, config, addresses, by, bounds)),
    get: (id) => findStream(database, id),
    list: (request) => listStreams(database, request),
    update: (id, change, by) =>
      database.transaction((transaction) => updateStream(transaction, id, change, by, bounds)),
    duplicate: (id, by) => database.transaction((transaction) => duplicateStream(transaction, id, by, bounds)),
    async remove(id, by) {
      const removed = await database.transaction((transaction) => removeStream(transaction, id, by));
      if (removed !== null) await forgetAddresses(database, id);
      return removed;
    },
  };
}

type Reader = Pick<Database, 'query'>;

async function findStream(reader: Reader, id: string): Promise<Stream | null> {
  const [row] = await reader.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE id = ${id} AND deleted_at IS NULL`,
  );
  return row === undefined ? null : streamOf(row);
}

async function listStreams(database: Database, request: StreamListRequest): Promise<StreamPage> {
  const { status, after, limit } = request;
  const listed = [sql`deleted_at IS NULL`, ...(status === null ? [] : [sql`status = ${status}`])];
  const start =
    after === null ? [] : [rowsAfter('DESC', ['created_at', 'id'], [sql`${after[0]}`, sql`${after[1]}::uuid`])];
  const [rows, [count]] = await Promise.all([
    database.query<StoredStream & { createdText: string }>(
      sql`SELECT ${STREAM_COLUMNS}, created_at::text AS "createdText" FROM streams
       ${where([...listed, ...start])} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`,
    ),
    database.query<{ total: number }>(sql`SELECT count(*) AS total FROM streams ${where(listed)}`),
  ]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    streams: page.map(({ createdText: _, ...stored }) => streamOf(stored)),
    total: count?.total ?? 0,
    next: last === undefined || rows.length === page.length ? null : [last.createdText, last.id],
  };
}

async function createStream(
  transaction: Transaction,
  config: StreamConfig,
  by: AuditActor,
  bounds: StreamBounds,
): Promise<Stream> {
  await raiseStreamsVersion(transaction);
  await trustWebhook(transaction, config.webhookUrl);
  const identical = await findIdentical(transaction, config);
  if (identical !== null) return identical;
  await requireRoomForStream(transaction, by.id, bounds);
  const stream = await insertStream(transaction, config, by.id, bounds);
  await auditCreated(transaction, by, stream, 0);
  return stream;
}

async function createWatching(
  transaction: Transaction,
  config: StreamConfig,
  addresses: readonly Address[],
  by: AuditActor,
  bounds: StreamBounds,
): Promise<Stream> {
  const version = await raiseStreamsVersion(transaction);
  await trustWebhook(transaction, config.webhookUrl);
  const identical = await findIdentical(transaction, config);
  if (identical !== null) throw new IdenticalStreamError(identical.id);
  await requireRoomForStream(transaction, by.id, bounds);
  const stream = await insertStream(transaction, config, by.id, bounds);
  const { added, watched } = await addAddresses(transaction, version, stream.id, addresses);
  if (watched !== null && added > 0) await requireRoomForAddresses(transaction, watched, bounds);
  await auditCreated(transaction, by, stream, added);
  return { ...stream, amountOfAddresses: added };
}

function auditCreated(
  transaction: Transaction,
  by: AuditActor,
  { id, tag, chainIds }: Stream,
  addresses: number,
): Promise<void> {
  return auditStream(transaction, by, 'stream.create', id, { tag, chains: chainIds, addresses });
}

async function findIdentical(transaction: Transaction, config: StreamConfig): Promise<Stream | null> {
  const { chain_ids: _, ...others } = configValues(config);
  const isSame = Object.entries(others).map(
    ([column, value]) => sql`${asSql(column)} IS NOT DISTINCT FROM ${value}`,
  );
  const chains = sql`${config.chainIds}`;
  const [row] = await transaction.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams
     WHERE deleted_at IS NULL AND status <> 'terminated' AND chain_ids @> ${chains} AND chain_ids <@ ${chains} AND ${joinSql(isSame, ' AND ')}
     ORDER BY created_at, id LIMIT 1`,
  );
  return row === undefined ? null : streamOf(row);
}

async function insertStream(
  transaction: Transaction,
  config: StreamConfig,
  createdBy: string,
  bounds: StreamBounds,
): Promise<Stream> {
  const others = { id: randomUUID(), status: 'active', status_message: ACTIVE_MESSAGE, created_by: createdBy };
  const rows = await transaction.query<StoredStream>(
    sql`${insertStatement(config, others)} RETURNING ${STREAM_COLUMNS}`,
  );
  const stream = single(rows);
  await requireRoomForConfigs(transaction, stream.id, bounds);
  await transaction.query(sql`INSERT INTO stream_stats (stream_id) VALUES (${stream.id}) ON CONFLICT DO NOTHING`);
  return stream;
}

async function updateStream(
  transaction: Transaction,
  id: string,
  change: (current: Stream) => StreamConfig,
  by: AuditActor,
  bounds: StreamBounds,
): Promise<Stream | null> {
  await raiseStreamsVersion(transaction);
  const current = await findStream(transaction, id);
  if (current === null) return null;
  const config = change(current);
  await trustWebhook(transaction, config.webhookUrl);
  const assignments = Object.entries(configValues(config)).map(
    ([column, value]) => sql`${asSql(column)} = ${value}`,
  );
  const rows = await transaction.query<StoredStream>(
    sql`UPDATE streams SET ${joinSql(assignments)}, updated_at = now() WHERE id = ${id} RETURNING ${STREAM_COLUMNS}`,
  );
  const [before, after] = [configValues(current), configValues(config)];
  // No values: they may be long or secret.
  const changed = CONFIG_COLUMNS.filter(
    (column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]),
  );
  // A pause or a shorter ABI must work for a key above the limit.
  if (lengthOf(after) > lengthOf(before)) await requireRoomForConfigs(transaction, id, bounds);
  if (changed.length > 0) await auditStream(transaction, by, 'stream.update', id, { changed });
  return single(rows);
}

function lengthOf(values: ReturnType<typeof configValues>): number {
  return JSON.stringify(values).length;
}

async function duplicateStream(
  transaction: Transaction,
  id: string,
  by: AuditActor,
  bounds: StreamBounds,
): Promise<Stream | null> {
  const version = await raiseStreamsVersion(transaction);
  const original = await findStream(transaction, id);
  if (original === null) return null;
  await trustWebhook(transaction, original.webhookUrl);
  await requireRoomForStream(transaction, by.id, bounds);
  const copy = await insertStream(transaction, original, by.id, bounds);
  const rows = await transaction.query<StoredStream>(
    sql`WITH copied AS (
       INSERT INTO stream_addresses (stream_id, address, version)
       SELECT ${copy.id}, address, ${version} FROM stream_addresses WHERE stream_id = ${id} RETURNING 1
     )
     UPDATE streams SET amount_of_addresses = (SELECT count(*) FROM copied) WHERE id = ${copy.id} RETURNING ${STREAM_COLUMNS}`,
  );
  const duplicate = single(rows);
  await requireRoomForAddresses(transaction, { amount: duplicate.amountOfAddresses, createdBy: by.id }, bounds);
  await auditStream(transaction, by, 'stream.duplicate', copy.id, {
    of: id,
    addresses: duplicate.amountOfAddresses,
  });
  return duplicate;
}

async function removeStream(transaction: Transaction, id: string, by: AuditActor): Promise<Stream | null> {
  await raiseStreamsVersion(transaction);
  const [row] = await transaction.query<StoredStream>(
    sql`UPDATE streams SET deleted_at = now() WHERE id = ${id} AND deleted_at IS NULL RETURNING ${STREAM_COLUMNS}`,
  );
  if (row === undefined) return null;
  await transaction.query(
    sql`UPDATE stream_deliveries SET status = 'dropped' WHERE stream_id = ${id} AND status = 'pending'`,
  );
  await transaction.query(
    sql`UPDATE historical_jobs SET status = 'failed', error_message = ${JOB_OF_DELETED_STREAM}, updated_at = now()
     WHERE stream_id = ${id} AND status IN ('pending', 'running')`,
  );
  const removed = streamOf(row);
  const { tag, amountOfAddresses } = removed;
  await auditStream(transaction, by, 'stream.delete', id, { tag, addresses: amountOfAddresses });
  return removed;
}

async function forgetAddresses(database: Database, id: string): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ gone: number }>(
      sql`WITH gone AS (
         DELETE FROM stream_addresses WHERE stream_id = ${id} AND address IN (
           SELECT address FROM stream_addresses WHERE stream_id = ${id} ORDER BY address LIMIT ${ADDRESS_BATCH}
         ) RETURNING 1
       )
       SELECT count(*) AS gone FROM gone`,
    );
    if (row === undefined || row.gone < ADDRESS_BATCH) return;
  }
}

function single([row]: readonly StoredStream[]): Stream {
  if (row === undefined) throw new TypeError('A stream vanished while its configuration was locked');
  return streamOf(row);
}

class IdenticalStreamError extends defineApiError('STREAM_IDENTICAL', (streamId: string) => ({
  status: 400,
  message: `Stream ${streamId} has the same configuration: change it, or set another description or tag for this one`,
  details: { streamId },
})) {}
