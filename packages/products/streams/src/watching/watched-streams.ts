import type { Chain } from '@chainstead/chains';
import { type ChainId, getOrCompute } from '@chainstead/core';
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

const NO_VERSION = -1;

export function createWatchedStreams(database: Database) {
  const filter = createAddressFilter();
  const readNames = createReadNames('known');
  let loaded: Loaded | null = null;
  let firstLoad: Promise<Loaded> | null = null;

  /** Two chains may load concurrently: adding twice has no effect, the newer version wins. */
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
    getOrCompute(indexes, chain.id, () => indexStreams(streams, chain.id));

  return {
    async needs(chain: Chain): Promise<WatchNeeds> {
      if (loaded === null) {
        // Slow with many addresses, so outside of the block's transaction.
        firstLoad ??= database.transaction(load).finally(() => {
          firstLoad = null;
        });
        await firstLoad;
      }
      return loaded === null ? NOTHING : needsOf(indexOf(loaded, chain), chain);
    },
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

/** A chain without internal transactions must not stop because streams request them on others. */
function needsOf({ needs }: StreamIndex, chain: Chain): WatchNeeds {
  return { ...needs, internalTransfers: needs.internalTransfers && chain.internalTransactions };
}

/** `error`: stored for its recovery (docs/api/streams.md#status). */
const IS_EVALUATED = sql`deleted_at IS NULL AND status IN ('active', 'error')`;

/** Holds the version until the transaction ends. Call it before matching. */
export async function loadStreamsAt(transaction: Transaction) {
  const version = await holdStreamsVersion(transaction);
  const rows = await transaction.query<StoredStream>(
    sql`SELECT ${STREAM_COLUMNS} FROM streams WHERE ${IS_EVALUATED} ORDER BY id`,
  );
  return { version, streams: rows.map(streamOf) };
}

const PARTS_PER_FETCH = 16;
const ADDRESS_BYTES = 20;

/** Added after `version` (-1: all), many per buffer: a row each is many times slower. */
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
    const rows = await transaction.query<{ tails: Buffer }>(
      sql`FETCH ${rawSql(PARTS_PER_FETCH)} FROM added_addresses`,
    );
    for (const { tails } of rows) visit(tails);
    if (rows.length < PARTS_PER_FETCH) break;
  }
  await transaction.query(sql`CLOSE added_addresses`);
}
