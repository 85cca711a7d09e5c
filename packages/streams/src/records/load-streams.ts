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

/** Addresses read at a time. */
const ADDRESSES_PER_FETCH = 50_000;

/**
 * Calls for each address that was added by a later version than this one and is still watched; -1 gives all. Whatever their
 * streams' status, so that nothing has to be read again when one is resumed. Call it under a held version.
 */
export async function visitAddressesSince(
  transaction: Transaction,
  version: number,
  visit: (address: Address) => void,
): Promise<void> {
  await transaction.query(
    `DECLARE added_addresses NO SCROLL CURSOR FOR
     SELECT a.address FROM stream_addresses a JOIN streams s ON s.id = a.stream_id
     WHERE a.version > ${Number(version)} AND s.deleted_at IS NULL`,
  );
  for (;;) {
    const rows = await transaction.query<{ address: Buffer }>(`FETCH ${ADDRESSES_PER_FETCH} FROM added_addresses`);
    for (const { address } of rows) visit(parseAddress(`0x${address.toString('hex')}`));
    if (rows.length < ADDRESSES_PER_FETCH) break;
  }
  await transaction.query('CLOSE added_addresses');
}
