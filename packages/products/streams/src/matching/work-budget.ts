/** Work of streams in a block, at most, before any of it is done: all processes agree, and tests can count. */
import { type Address, getOrCompute, type Hash } from '@chainstead/core';
import type { BlockSightings } from './block-sightings.ts';
import type { CompiledStream } from './compile-stream.ts';
import { unitsOfWork } from './filter.ts';
import { createSlices, type NamedLogs, type Sliced, type WatchedAddresses } from './match.ts';
import { type StreamIndex, withoutStreams } from './stream-index.ts';

/** Units of about 100 ns: a comparison, or 64 bytes of a value. Filters and items have it each. */
export interface WorkBudget {
  readonly perKey: number;
  /** Keys with little work come first; the others share the rest. */
  readonly perBlock: number;
  /** The stream with the least work is matched whatever it needs. @default false */
  readonly admitsOne?: boolean;
}

/** 0.1 s for a key and 0.3 s in all, for filters and for items: chains have a block per second or two. */
export const BLOCK_BUDGET: WorkBudget = { perKey: 1_000_000, perBlock: 3_000_000 };

/** A stream that looks at an item, before its filter. */
export const UNITS_PER_VISIT = 3;
/** A stream that watches an address of the block, as read from the database. */
export const UNITS_PER_WATCHER = 10;
/** A matched item, or an address that caused it, with its part of the transaction. About 1,000 bytes of memory. */
export const UNITS_PER_ITEM = 30;

export interface Admission {
  readonly index: StreamIndex;
  readonly watched: WatchedAddresses;
  /** Streams without room, by id. */
  readonly deferred: readonly CompiledStream[];
}

/** For the filters, before any is evaluated. */
// Invariant: FAIR-KEYS
export function* admitStreams(
  sightings: BlockSightings,
  watched: WatchedAddresses,
  index: StreamIndex,
  named: NamedLogs,
  budget: WorkBudget,
): Sliced<Admission> {
  const demands = yield* demandsOf(sightings, watched, index, named);
  const deferred = deferredOf(demands, budget);
  if (deferred.size === 0) return { index, watched, deferred: [] };
  const rest = withoutStreams(index, deferred);
  return {
    index: rest,
    watched: new Map(Array.from(watched, ([address, ids]) => [address, ids.filter((id) => rest.byId.has(id))])),
    deferred: [...deferred].sort((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

type Demands = ReadonlyMap<CompiledStream, number>;

interface Tally {
  logs: number;
  bytes: number;
  transactions: number;
  transfers: number;
}

function* demandsOf(
  { block, logs, transactions, internalTransfers }: BlockSightings,
  watched: WatchedAddresses,
  index: StreamIndex,
  named: NamedLogs,
): Sliced<Demands> {
  const slices = createSlices();
  const demands = new Map<CompiledStream, number>();
  const demand = (stream: CompiledStream, units: number): void =>
    void demands.set(stream, (demands.get(stream) ?? 0) + units);
  const byTopic = new Map<Hash, Tally>();
  if (index.everywhere.size > 0)
    for (const { topics, data } of block.logs)
      if (topics[0] !== undefined) countLog(getOrCompute(byTopic, topics[0], emptyTally), data);
  for (const [topic, streams] of index.everywhere) {
    const tally = byTopic.get(topic);
    if (tally !== undefined) for (const stream of streams) demand(stream, unitsOf(stream, tally));
  }

  const byAddress = new Map<Address, Tally>();
  const tallyOf = (address: Address): Tally => getOrCompute(byAddress, address, emptyTally);
  for (const [place, addresses] of logs)
    for (const address of addresses) countLog(tallyOf(address), block.logs[place]?.data ?? '');
  for (const { from, to } of transactions)
    for (const address of [from, to]) if (address !== null) tallyOf(address).transactions += 1;
  for (const place of internalTransfers) {
    const transfer = block.internalTransfers?.[place];
    if (transfer !== undefined)
      for (const address of [transfer.from, transfer.to]) tallyOf(address).transfers += 1;
  }
  for (const [address, ids] of watched) {
    const tally = byAddress.get(address);
    for (const id of tally === undefined ? [] : ids) {
      const stream = index.byId.get(id);
      if (stream !== undefined && tally !== undefined) demand(stream, unitsOf(stream, tally));
    }
    if (slices.worked(UNITS_PER_VISIT * ids.length)) yield;
  }

  const byName = new Map<string, Tally>();
  for (const [{ data }, names] of named)
    for (const { name } of names) countLog(getOrCompute(byName, name, emptyTally), data);
  for (const [name, tally] of byName)
    for (const stream of index.byContract.get(name) ?? []) demand(stream, unitsOf(stream, tally));
  return demands;
}

const emptyTally = (): Tally => ({ logs: 0, bytes: 0, transactions: 0, transfers: 0 });

function countLog(tally: Tally, data: string): void {
  tally.logs += 1;
  tally.bytes += data.length / 2;
}

function unitsOf(stream: CompiledStream, { logs, bytes, transactions, transfers }: Tally): number {
  const { comparisons, bytes: longest } = stream.work;
  const all = { comparisons: logs * comparisons, bytes: Math.min(logs * longest, comparisons * bytes) };
  const ofLogs = stream.looksAtLogs ? UNITS_PER_VISIT * logs + unitsOfWork(all) : 0;
  return ofLogs + UNITS_PER_VISIT * (transactions + transfers);
}

/** Within a key, too, streams with little work come first. */
export function deferredOf(
  demands: Demands,
  { perKey, perBlock, admitsOne = false }: WorkBudget,
): Set<CompiledStream> {
  const deferred = new Set<CompiledStream>();
  const unitsFor = (stream: CompiledStream): number => demands.get(stream) ?? 0;
  const sum = (streams: readonly CompiledStream[]): number =>
    streams.reduce((units, stream) => units + unitsFor(stream), 0);
  const keys = Array.from(
    Map.groupBy(demands.keys(), ({ key }) => key),
    ([key, streams]) => ({ key, streams, units: sum(streams) }),
  ).sort((one, other) => one.units - other.units || (one.key < other.key ? -1 : 1));
  let left = perBlock;
  for (const [place, { streams, units }] of keys.entries()) {
    const share = Math.min(perKey, left / (keys.length - place));
    let used = units;
    if (units > share) {
      used = 0;
      const inTurn = streams.toSorted(
        (one, other) => unitsFor(one) - unitsFor(other) || (one.id < other.id ? -1 : 1),
      );
      for (const [turn, stream] of inTurn.entries())
        if (used + unitsFor(stream) <= share || (admitsOne && turn === 0)) used += unitsFor(stream);
        else deferred.add(stream);
    }
    left -= used;
  }
  return deferred;
}
