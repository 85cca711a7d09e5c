import { type Address, parseAddress } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { Stream } from '../stream.ts';
import { STREAM_COLUMNS, type StreamRow, streamOf } from './stream-row.ts';
import { holdStreamsVersion } from './streams-version.ts';

/** The streams that a block is matched with. */
export interface MatchedStreams {
  readonly version: number;
  /** Active ones, and those in error: these are evaluated and kept for when they work again (interface 2.6). */
  readonly streams: readonly Stream[];
}

/** An address that a stream watches. */
export interface WatchedAddress {
  readonly streamId: string;
  readonly address: Address;
}

const EVALUATED = "deleted_at IS NULL AND status IN ('active', 'error')";

/**
 * The configuration that was committed before this transaction's block. Its version is held until the transaction ends, so
 * call it before matching; while `holdStreamsVersion` gives a version that is known, nothing needs to be loaded.
 */
export async function loadStreamsAt(transaction: Transaction): Promise<MatchedStreams> {
  const version = await holdStreamsVersion(transaction);
  const rows = await transaction.query<StreamRow>(
    `SELECT ${STREAM_COLUMNS} FROM streams WHERE ${EVALUATED} ORDER BY id`,
  );
  return { version, streams: rows.map(streamOf) };
}

/**
 * Addresses that were added by later versions than this one and are still watched; -1 gives all. Whatever their streams'
 * status, so that nothing has to be read again when one is resumed. Read it under a held version.
 */
export async function addressesSince(transaction: Transaction, version: number): Promise<readonly WatchedAddress[]> {
  const rows = await transaction.query<{ stream_id: string; address: string }>(
    `SELECT a.stream_id, '0x' || encode(a.address, 'hex') AS address
     FROM stream_addresses a JOIN streams s ON s.id = a.stream_id
     WHERE a.version > $1 AND s.deleted_at IS NULL`,
    [version],
  );
  return rows.map((row) => ({ streamId: row.stream_id, address: parseAddress(row.address) }));
}
