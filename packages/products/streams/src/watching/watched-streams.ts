import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import { type ChainId, getOrCompute } from '@chainstead/core';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import type { WatchNeeds } from '@chainstead/sync';
import { createReadNames } from '../contracts/read-names.ts';
import { type CompiledStream, compileStream } from '../matching/compile-stream.ts';
import { indexStreams, type StreamIndex } from '../matching/stream-index.ts';
import { BLOCK_BUDGET, type WorkBudget } from '../matching/work-budget.ts';
import { holdStreamsVersion } from '../records/stream-addresses.ts';
import { STREAM_COLUMNS, type StoredStream, streamOf } from '../records/stream-row.ts';
import { createAddressFilter, TAIL_BYTES } from './address-filter.ts';
import type { StreamMatcher } from './match-blocks.ts';

interface Loaded {
  readonly version: number;
  readonly streams: ReadonlyMap<string, LoadedStream>;
  readonly indexes: Map<ChainId, StreamIndex>;
}

interface LoadedStream {
  readonly revision: string;
  readonly compiled: CompiledStream;
}

const NO_VERSION = -1;

export function createWatchedStreams(database: Database, budget: WorkBudget = BLOCK_BUDGET) {
  const filter = createAddressFilter();
  const readNames = createReadNames('known');
  let loaded: Loaded | null = null;
  let firstLoad: Promise<Loaded> | null = null;

  /** Two chains may load concurrently: adding twice has no effect, the newer version wins. */
  const load = async (transaction: Transaction): Promise<Loaded> => {
    const known = loaded?.version ?? NO_VERSION;
    const before = loaded?.streams ?? new Map<string, LoadedStream>();
    const { version, revisions, changed } = await loadStreamsAt(transaction, before);
    await visitAddressTailsSince(transaction, known, TAIL_BYTES, filter.addTails);
    const compiled = new Map<string, LoadedStream>();
    for (const { revision, ...stream } of changed) {
      compiled.set(stream.id, { revision, compiled: compileStream(stream) });
      // A filter may have 10,000 values.
      await nextTurn();
    }
    const streams = new Map<string, LoadedStream>();
    for (const { id } of revisions) {
      const stream = compiled.get(id) ?? before.get(id);
      if (stream !== undefined) streams.set(id, stream);
    }
    const fresh: Loaded = { version, streams, indexes: new Map() };
    if (loaded === null || loaded.version < version) loaded = fresh;
    return fresh;
  };

  const indexOf = ({ streams, indexes }: Loaded, chain: Chain): StreamIndex =>
    getOrCompute(indexes, chain.id, () =>
      indexStreams(
        Array.from(streams.values(), ({ compiled }) => compiled),
        chain.id,
      ),
    );

  const matcherOf = (of: Loaded, chain: Chain): StreamMatcher => {
    const index = indexOf(of, chain);
    return {
      version: of.version,
      index,
      budget,
      needs: needsOf(index, chain),
      mayWatch: filter.mayHave,
      readNames,
    };
  };

  return {
    /** As last loaded. Null: not yet. */
    known: (chain: Chain): StreamMatcher | null => (loaded === null ? null : matcherOf(loaded, chain)),
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
      return matcherOf(loaded?.version === version ? loaded : await load(transaction), chain);
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

/**
 * Holds the version until the transaction ends. Call it before matching.
 * @param known streams that are not read again @default none
 */
export async function loadStreamsAt(
  transaction: Transaction,
  known: ReadonlyMap<string, Pick<LoadedStream, 'revision'>> = new Map(),
) {
  const version = await holdStreamsVersion(transaction);
  const revisions = await transaction.query<{ id: string; revision: string }>(
    sql`SELECT id, xmin::text AS revision FROM streams WHERE ${IS_EVALUATED} ORDER BY id`,
  );
  const changed = revisions.filter(({ id, revision }) => known.get(id)?.revision !== revision);
  const rows = await transaction.query<StoredStream & { createdBy: string | null; revision: string }>(
    sql`SELECT ${STREAM_COLUMNS}, created_by, xmin::text AS revision FROM streams
     WHERE id = ANY (${changed.map(({ id }) => id)}::uuid[]) ORDER BY id`,
  );
  return {
    version,
    revisions,
    changed: rows.map(({ createdBy, revision, ...stored }) => ({ ...streamOf(stored), createdBy, revision })),
  };
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
