import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, rawSql, type Sql, sql } from '@chainstead/db';
import type { CompiledStream } from '../matching/compile-stream.ts';
import type { WatchedAddresses } from '../matching/match.ts';
import type { StreamIndex } from '../matching/stream-index.ts';
import { deferredOf, UNITS_PER_WATCHER, type WorkBudget } from '../matching/work-budget.ts';

export interface Watchers {
  readonly watched: WatchedAddresses;
  /** Streams that watch so many of the addresses that their key exceeds the budget: they are not in `watched`. */
  readonly deferred: ReadonlySet<CompiledStream>;
}

type Reader = Pick<Database, 'query'>;

const NONE: ReadonlySet<CompiledStream> = new Set();

/** Addresses may be shared by all streams of a key: no more pairs are read than a key may cause. */
// Invariant: FAIR-KEYS
export async function readWatchers(
  reader: Reader,
  { index, budget }: { readonly index: StreamIndex; readonly budget: WorkBudget },
  addresses: readonly Address[],
): Promise<Watchers> {
  if (addresses.length === 0) return { watched: new Map(), deferred: NONE };
  const isSighted = sql`address = ANY (${addresses.map(addressBytes)}::bytea[])`;
  const pairsMax = Math.floor(budget.perKey / UNITS_PER_WATCHER);
  const some = await readPairs(reader, index, sql`${isSighted} LIMIT ${rawSql(pairsMax + 1)}`);
  if (some.pairs <= pairsMax) return { watched: some.watched, deferred: NONE };
  const deferred = deferredOf(await countPairs(reader, index, isSighted), budget);
  const admitted = [...index.byId.values()].filter((stream) => !deferred.has(stream)).map(({ id }) => id);
  const { watched } = await readPairs(reader, index, sql`${isSighted} AND stream_id = ANY (${admitted}::uuid[])`);
  return { watched, deferred };
}

async function readPairs(reader: Reader, { byId }: StreamIndex, where: Sql) {
  const rows = await reader.query<{ address: Buffer; streams: string[] }>(
    sql`SELECT address, array_agg(stream_id::text ORDER BY stream_id) AS streams
     FROM (SELECT address, stream_id FROM stream_addresses WHERE ${where}) AS pair GROUP BY address`,
  );
  const watched = new Map<Address, string[]>();
  let pairs = 0;
  for (const { address, streams } of rows) {
    pairs += streams.length;
    const own = streams.filter((id) => byId.has(id));
    if (own.length > 0) watched.set(parseAddress(`0x${address.toString('hex')}`), own);
  }
  return { watched, pairs };
}

async function countPairs(
  reader: Reader,
  { byId }: StreamIndex,
  where: Sql,
): Promise<ReadonlyMap<CompiledStream, number>> {
  const rows = await reader.query<{ id: string; pairs: number }>(
    sql`SELECT stream_id AS id, count(*)::int AS pairs FROM stream_addresses WHERE ${where} GROUP BY stream_id`,
  );
  const demands = new Map<CompiledStream, number>();
  for (const { id, pairs } of rows) {
    const stream = byId.get(id);
    if (stream !== undefined) demands.set(stream, UNITS_PER_WATCHER * pairs);
  }
  return demands;
}
