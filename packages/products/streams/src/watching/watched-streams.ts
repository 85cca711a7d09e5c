import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import type { WatchNeeds } from '@chainstead/sync';
import { createReadNames } from '../contracts/read-names.ts';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import { indexStreams, type StreamIndex } from '../matching/stream-index.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import { createAddressFilter, TAIL_BYTES } from './address-filter.ts';
import { readsSpam, type StreamMatcher } from './match-blocks.ts';

interface Loaded {
  readonly version: number;
  readonly streams: readonly CompiledStream[];
  readonly readsSpam: ReadonlySet<string>;
  readonly indexes: Map<ChainId, StreamIndex>;
}

/** Precedes the first version: every address was added by a later one. */
const NO_VERSION = -1;

/** The streams of all chains of a process in memory, updated version by version. */
export function createWatchedStreams(database: Database) {
  const filter = createAddressFilter();
  const readNames = createReadNames('known');
  let loaded: Loaded | null = null;
  let firstLoad: Promise<Loaded> | null = null;

  /** Two chains may load concurrently: adding an address twice has no effect, and the newer version wins. */
  const load = async (transaction: Transaction): Promise<Loaded> => {
    const known = loaded?.version ?? NO_VERSION;
    const { version, streams } = await loadStreamsAt(transaction);
    await visitAddressTailsSince(transaction, known, TAIL_BYTES, filter.addTails);
    const fresh: Loaded = {
      version,
      streams: streams.map(compileStream),
      readsSpam: new Set(streams.filter(readsSpam).map(({ id }) => id)),
      indexes: new Map(),
    };
    if (loaded === null || loaded.version < version) loaded = fresh;
    return fresh;
  };

  const indexOf = ({ streams, indexes }: Loaded, chain: Chain): StreamIndex =>
    indexes.getOrInsertComputed(chain.id, () => indexStreams(streams, chain.id));

  return {
    /** Returns the block parts that the newest loaded version needs for a chain; the first call loads it. */
    async needs(chain: Chain): Promise<WatchNeeds> {
      if (loaded === null) {
        // Loading many addresses takes a while, so it runs outside of the block's transaction.
        firstLoad ??= database.transaction(load).finally(() => {
          firstLoad = null;
        });
        await firstLoad;
      }
      return loaded === null ? NOTHING : needsOf(indexOf(loaded, chain), chain);
    },
    /** Returns the version for the transaction's blocks and holds it until the transaction ends. */
    async at(transaction: Transaction, chain: Chain): Promise<StreamMatcher> {
      const version = await holdStreamsVersion(transaction);
      const current = loaded?.version === version ? loaded : await load(transaction);
      const index = indexOf(current, chain);
      return {
        index,
        needs: needsOf(index, chain),
        readsSpam: [...index.byId.keys()].some((id) => current.readsSpam.has(id)),
        mayWatch: filter.mayHave,
        readNames,
      };
    },
  };
}

const NOTHING: WatchNeeds = { transactions: false, internalTransfers: false };

/** Streams may request internal transactions on other chains; a chain without them must not stop because of that. */
function needsOf({ needs }: StreamIndex, chain: Chain): WatchNeeds {
  return { ...needs, internalTransfers: needs.internalTransfers && chain.internalTransactions };
}

/** A stream in `error` is matched and stored for its recovery (docs/api/streams.md#status). */
const IS_EVALUATED = sql`deleted_at IS NULL AND status IN ('active', 'error')`;

/**
 * Loads the configuration committed before this transaction's block and holds its version until the transaction ends.
 * Call it before matching. If `holdStreamsVersion` returns a version already loaded, nothing needs to be loaded.
 */
export async function loadStreamsAt(transaction: Transaction) {
  const version = await holdStreamsVersion(transaction);
  const rows = await transaction.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE ${IS_EVALUATED} ORDER BY id`,
  );
  return { version, streams: rows.map(streamOf) };
}

/** Rows per fetch, each with 1/256 of the addresses. */
const PARTS_PER_FETCH = 16;
const ADDRESS_BYTES = 20;

/**
 * Visits the last `tailBytes` bytes of each address added after `version` (-1: all). Many addresses share a buffer,
 * because one row per address is many times slower. Includes streams in every status, so that resuming one needs no
 * reload. Call it under a held version.
 */
async function visitAddressTailsSince(
  transaction: Transaction,
  version: number,
  tailBytes: number,
  visit: (tails: Buffer) => void,
): Promise<void> {
  await transaction.query(
    sql`DECLARE added_addresses NO SCROLL CURSOR FOR
     SELECT string_agg(substr(a.address, ${rawSql(ADDRESS_BYTES - tailBytes + 1)}), ''::bytea) AS tails
     FROM stream_addresses a WHERE a.version > ${rawSql(version)}
     GROUP BY get_byte(a.address, ${rawSql(ADDRESS_BYTES - 1)})`,
  );
  for (;;) {
    const rows = await transaction.query<{ tails: Buffer }>(sql`FETCH ${rawSql(PARTS_PER_FETCH)} FROM added_addresses`);
    for (const { tails } of rows) visit(tails);
    if (rows.length < PARTS_PER_FETCH) break;
  }
  await transaction.query(sql`CLOSE added_addresses`);
}
