import type { Transaction } from '@chainstead/db';
import type { Stream } from '../stream.ts';
import { STREAM_COLUMNS, type StreamRow, streamOf } from './stream-row.ts';
import { holdStreamsVersion } from './streams-version.ts';

/** The streams that a block is matched with. */
export interface MatchedStreams {
  readonly version: number;
  /** Active ones, and those in error: these are evaluated and kept for when they work again (docs/provider-contract.md#status). */
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

/** Rows read at a time, each with a 256th of the addresses. */
const PARTS_PER_FETCH = 16;
const ADDRESS_BYTES = 20;

/**
 * Calls with the last so many bytes of each address that was added by a later version than this one, many addresses in one
 * buffer, as a row for each costs many times more; -1 gives all. Whatever their streams' status, so that nothing has to be read
 * again when one is resumed. Call it under a held version.
 */
export async function visitAddressTailsSince(
  transaction: Transaction,
  version: number,
  tailBytes: number,
  visit: (tails: Buffer) => void,
): Promise<void> {
  await transaction.query(
    `DECLARE added_addresses NO SCROLL CURSOR FOR
     SELECT string_agg(substr(a.address, ${ADDRESS_BYTES - Number(tailBytes) + 1}), ''::bytea) AS tails
     FROM stream_addresses a WHERE a.version > ${Number(version)}
     GROUP BY get_byte(a.address, ${ADDRESS_BYTES - 1})`,
  );
  for (;;) {
    const rows = await transaction.query<{ tails: Buffer }>(`FETCH ${PARTS_PER_FETCH} FROM added_addresses`);
    for (const { tails } of rows) visit(tails);
    if (rows.length < PARTS_PER_FETCH) break;
  }
  await transaction.query('CLOSE added_addresses');
}
