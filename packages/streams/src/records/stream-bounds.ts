import type { Transaction } from '@chainstead/db';
import { TooManyAddressesError, TooManyKeyAddressesError, TooManyStreamsError } from './bound-errors.ts';

/** What one key may have. */
export interface StreamBounds {
  /** Streams that are not deleted. */
  readonly streamsPerKey: number;
  /** Addresses that one stream watches. */
  readonly addressesPerStream: number;
  /** Addresses that all streams of a key watch together. */
  readonly addressesPerKey: number;
}

export const DEFAULT_BOUNDS: StreamBounds = {
  streamsPerKey: 1_000,
  addressesPerStream: 1_000_000,
  addressesPerKey: 5_000_000,
};

/**
 * Whoever calls these holds the streams' version, so changes are counted one at a time.
 * @throws TooManyStreamsError
 */
export async function requireRoomForStream(
  transaction: Transaction,
  createdBy: string,
  { streamsPerKey }: StreamBounds,
): Promise<void> {
  const [row] = await transaction.query<{ streams: number }>(
    'SELECT count(*)::int AS streams FROM streams WHERE created_by = $1 AND deleted_at IS NULL',
    [createdBy],
  );
  const streams = row?.streams ?? 0;
  if (streams >= streamsPerKey) throw new TooManyStreamsError(streams, streamsPerKey);
}

/** A stream's addresses after a change of its own transaction. */
export interface WatchedAmount {
  readonly amount: number;
  /** Null: no key is known. */
  readonly createdBy: string | null;
}

/**
 * Looks at what a stream watches after addresses were added; whoever throws away the transaction throws them away.
 * @throws TooManyAddressesError, TooManyKeyAddressesError
 */
export async function requireRoomForAddresses(
  transaction: Transaction,
  { amount, createdBy }: WatchedAmount,
  { addressesPerStream, addressesPerKey }: StreamBounds,
): Promise<void> {
  if (amount > addressesPerStream) throw new TooManyAddressesError(amount, addressesPerStream);
  if (createdBy === null) return;
  const [row] = await transaction.query<{ addresses: number }>(
    `SELECT coalesce(sum(amount_of_addresses), 0)::bigint AS addresses FROM streams
     WHERE created_by = $1 AND deleted_at IS NULL`,
    [createdBy],
  );
  const addresses = row?.addresses ?? 0;
  if (addresses > addressesPerKey) throw new TooManyKeyAddressesError(addresses, addressesPerKey);
}
