import { sql, type Transaction, transactionLock } from '@chainstead/db';
import { defineApiError } from '@chainstead/http';

export interface StreamBounds {
  readonly streamsPerKey: number;
  readonly addressesPerStream: number;
  readonly addressesPerKey: number;
  /** @default CONFIG_BYTES_PER_KEY */
  readonly configBytesPerKey?: number;
}

/** ABIs, filters and triggers. Compiled filters take up to 15 times as much memory in each process. */
const CONFIG_BYTES_PER_KEY = 16_777_216;

export const DEFAULT_BOUNDS: StreamBounds = {
  streamsPerKey: 1_000,
  addressesPerStream: 1_000_000,
  addressesPerKey: 5_000_000,
};

/** The caller must hold the streams version. @throws TooManyStreamsError */
export async function requireRoomForStream(
  transaction: Transaction,
  createdBy: string,
  { streamsPerKey }: StreamBounds,
): Promise<void> {
  const [row] = await transaction.query<{ streams: number }>(
    sql`SELECT count(*)::int AS streams FROM streams WHERE created_by = ${createdBy} AND deleted_at IS NULL`,
  );
  const streams = row?.streams ?? 0;
  if (streams >= streamsPerKey) throw new TooManyStreamsError(streams, streamsPerKey);
}

/** After the change, which a rollback discards. @throws StreamConfigsTooLargeError */
// Invariant: FAIR-KEYS
export async function requireRoomForConfigs(
  transaction: Transaction,
  streamId: string,
  { configBytesPerKey = CONFIG_BYTES_PER_KEY }: StreamBounds,
): Promise<void> {
  const bytes = sql`(coalesce(octet_length(abi), 0) + coalesce(octet_length(advanced_options), 0) + coalesce(octet_length(triggers), 0))`;
  const [row] = await transaction.query<{ total: number }>(
    sql`SELECT coalesce(sum(${bytes}), 0)::bigint AS total FROM streams
     WHERE created_by = (SELECT created_by FROM streams WHERE id = ${streamId}) AND deleted_at IS NULL`,
  );
  const total = row?.total ?? 0;
  if (total > configBytesPerKey) throw new StreamConfigsTooLargeError(total, configBytesPerKey);
}

export interface WatchedAmount {
  readonly amount: number;
  readonly createdBy: string | null;
}

/** A rollback discards them. @throws TooManyAddressesError, TooManyKeyAddressesError */
export async function requireRoomForAddresses(
  transaction: Transaction,
  { amount, createdBy }: WatchedAmount,
  { addressesPerStream, addressesPerKey }: StreamBounds,
): Promise<void> {
  if (amount > addressesPerStream) throw new TooManyAddressesError(amount, addressesPerStream);
  if (createdBy === null) return;
  const [row] = await transaction.query<{ addresses: number }>(
    sql`SELECT coalesce(sum(amount_of_addresses), 0)::bigint AS addresses FROM streams
     WHERE created_by = ${createdBy} AND deleted_at IS NULL`,
  );
  const addresses = row?.addresses ?? 0;
  if (addresses > addressesPerKey) throw new TooManyKeyAddressesError(addresses, addressesPerKey);
}

class TooManyReplaysError extends defineApiError('REPLAYS_LIMITED', (waiting: number, limit: number) => ({
  status: 429,
  message: `This key has ${waiting} webhooks in the replay queue, the limit is ${limit}: retry when some have been sent`,
  details: { waiting, limit },
  headers: { 'retry-after': '60' },
  retryable: true,
})) {}

class TooManyStreamsError extends defineApiError('STREAMS_LIMITED', (streams: number, limit: number) => ({
  status: 400,
  message: `This key has ${streams} streams, the limit is ${limit}: delete one first`,
  details: { streams, limit },
})) {}

class StreamConfigsTooLargeError extends defineApiError(
  'STREAM_CONFIGS_LIMITED',
  (bytes: number, limit: number) => ({
    status: 400,
    message: `ABIs, filters and triggers in the streams of this key would have ${bytes} bytes in total, the limit is ${limit}: shorten filters, or delete a stream`,
    details: { bytes, limit },
  }),
) {}

class TooManyAddressesError extends defineApiError(
  'STREAM_ADDRESSES_LIMITED',
  (addresses: number, limit: number) => ({
    status: 400,
    message: `The stream would watch ${addresses} addresses, the limit is ${limit}: move some to another stream`,
    details: { addresses, limit },
  }),
) {}

class TooManyKeyAddressesError extends defineApiError(
  'KEY_ADDRESSES_LIMITED',
  (addresses: number, limit: number) => ({
    status: 400,
    message: `The streams of this key would watch ${addresses} addresses in total, the limit is ${limit}: remove some first`,
    details: { addresses, limit },
  }),
) {}

export const REPLAYS_PER_KEY = 1_000;

/** Serializes requests of the key. @returns free slots @throws TooManyReplaysError */
export async function requireRoomForReplay(
  transaction: Transaction,
  requestedBy: string,
  replaysPerKey: number,
): Promise<number> {
  await transactionLock(transaction, `replays:${requestedBy}`);
  const [row] = await transaction.query<{ waiting: number }>(
    sql`SELECT count(*)::int AS waiting FROM stream_deliveries WHERE status = 'pending' AND requested_by = ${requestedBy}`,
  );
  const waiting = row?.waiting ?? 0;
  if (waiting >= replaysPerKey) throw new TooManyReplaysError(waiting, replaysPerKey);
  return replaysPerKey - waiting;
}
