import { sql, type Transaction } from '@chainstead/db';
import { TooManyAddressesError, TooManyKeyAddressesError, TooManyStreamsError } from './bound-errors.ts';

export interface StreamBounds {
  readonly streamsPerKey: number;
  readonly addressesPerStream: number;
  readonly addressesPerKey: number;
}

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
