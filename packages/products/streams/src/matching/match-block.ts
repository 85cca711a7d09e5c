import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Address, getOrCompute, type Hash, type Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import type { AbiItem } from '../stream.ts';
import type { BlockSightings } from './block-sightings.ts';
import type { CompiledStream, LogFacts } from './compile-stream.ts';
import { unitsOfWork } from './filter.ts';
import type { Match } from './match.ts';
import { createMatchDraft, type MatchDraft } from './match-draft.ts';
import { createParameterValues } from './parameter-values.ts';
import type { StreamIndex } from './stream-index.ts';

export type WatchedAddresses = ReadonlyMap<Address, readonly string[]>;

export interface MatchFacts extends Pick<LogFacts, 'isSpam'> {
  readonly named?: NamedLogs;
}

export type NamedLogs = ReadonlyMap<Log, readonly { readonly name: string; readonly item: AbiItem | null }[]>;

const NO_NAMES: NamedLogs = new Map();

/** Pauses after each slice of its work. */
export type Sliced<T> = Generator<void, T>;

/** Some 20 ms. */
const UNITS_PER_SLICE = 200_000;

/**
 * By stream id, without empty matches. Pure. Costs depend on the sightings, not the streams.
 *
 * - A transaction or internal transfer matches a watched sender or receiver. A log matches an
 * address that occurs in it (`sightAddresses`); with `allAddresses`, topic0 alone is enough.
 * - With topic0, a log must have one of them, and the topic count of the ABI event.
 * - A log whose topic0 has `advancedOptions` must pass one filter, which may add its transaction.
 * - A log of a named contract matches whatever its topic0 and addresses.
 * - `includeAllTxLogs` adds all logs of transactions with a matching log or watched party.
 * - `filterPossibleSpamAddresses` drops logs of spam contracts, whatever other rules include.
 */
export function* matchBlock(
  sightings: BlockSightings,
  watched: WatchedAddresses,
  index: StreamIndex,
  facts: MatchFacts,
): Sliced<Match[]> {
  const drafts = new Map<string, MatchDraft>();
  const draftOf = (stream: CompiledStream): MatchDraft =>
    getOrCompute(drafts, stream.id, () => createMatchDraft(stream));
  const logFacts = {
    chainId: index.chainId,
    values: createParameterValues(),
    isSpam: (address: Address) => facts.isSpam(address),
  };
  const { block } = sightings;
  const { named = NO_NAMES } = facts;
  const matching: Matching = { block, sightings, watched, index, named, facts: logFacts, draftOf };
  const slices = createSlices();
  if (watched.size > 0) {
    yield* matchTransactions(matching, slices);
    yield* matchInternalTransfers(matching, slices);
  }
  if (watched.size > 0 || index.everywhere.size > 0 || named.size > 0) yield* matchLogs(matching, slices);
  yield* addAllTransactionLogs(matching, drafts.values(), slices);
  const matches: Match[] = [];
  for (const draft of drafts.values()) {
    const match = draft.finish(block, index.chainId);
    if (match === null) continue;
    matches.push(match);
    if (slices.worked(match.logs.length + match.transactions.length + match.internalTransactions.length)) yield;
  }
  return matches.sort((one, other) => (one.streamId < other.streamId ? -1 : 1));
}

/** Other work of the process has a turn between two slices. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

type Slices = ReturnType<typeof createSlices>;

function createSlices() {
  let units = 0;
  return {
    /** @returns whether the slice is over */
    worked(more: number): boolean {
      units += more;
      const isOver = units >= UNITS_PER_SLICE;
      if (isOver) units = 0;
      return isOver;
    },
  };
}

interface Matching {
  readonly block: WatchedBlock;
  readonly sightings: BlockSightings;
  readonly watched: WatchedAddresses;
  readonly index: StreamIndex;
  readonly named: NamedLogs;
  readonly facts: LogFacts;
  readonly draftOf: (stream: CompiledStream) => MatchDraft;
}

function visitWatchers(
  { watched, index }: Matching,
  address: Address | null,
  visit: (stream: CompiledStream, address: Address) => void,
): void {
  if (address === null) return;
  for (const id of watched.get(address) ?? []) {
    const stream = index.byId.get(id);
    if (stream !== undefined) visit(stream, address);
  }
}

function* matchTransactions(matching: Matching, slices: Slices): Sliced<void> {
  for (const { hash, from, to } of matching.sightings.transactions) {
    const visit = (stream: CompiledStream, address: Address): void => {
      if (stream.includeNativeTxs) matching.draftOf(stream).addTransaction(hash, [address]);
      if (stream.includeAllTxLogs) matching.draftOf(stream).wantAllLogs(hash, [address]);
    };
    visitWatchers(matching, from, visit);
    visitWatchers(matching, to, visit);
    if (slices.worked(watcherCount(matching, from) + watcherCount(matching, to))) yield;
  }
}

function watcherCount({ watched }: Matching, address: Address | null): number {
  return address === null ? 0 : (watched.get(address)?.length ?? 0);
}

function* matchInternalTransfers(matching: Matching, slices: Slices): Sliced<void> {
  for (const place of matching.sightings.internalTransfers) {
    const transfer = matching.block.internalTransfers?.[place];
    if (transfer === undefined || transfer.value <= 0n) continue;
    const visit = (stream: CompiledStream, address: Address): void => {
      if (stream.includeInternalTxs) matching.draftOf(stream).addInternalTransfer(place, address);
    };
    visitWatchers(matching, transfer.from, visit);
    visitWatchers(matching, transfer.to, visit);
    if (slices.worked(watcherCount(matching, transfer.from) + watcherCount(matching, transfer.to))) yield;
  }
}

function* matchLogs(matching: Matching, slices: Slices): Sliced<void> {
  const { block, sightings, index, named } = matching;
  const places = index.everywhere.size + named.size === 0 ? sightings.logs.keys() : block.logs.keys();
  for (const place of places) {
    const log = block.logs[place];
    if (log === undefined) continue;
    for (const [stream, addresses] of watchersOf(matching, log, sightings.logs.get(place) ?? [])) {
      if (isWantedEvent(stream, log)) matchLog(matching, stream, log, place, [...addresses]);
      if (slices.worked(addresses.size + 1 + unitsOfWork(stream.work))) yield;
    }
    for (const { name, item } of named.get(log) ?? [])
      for (const stream of index.byContract.get(name) ?? []) {
        const draft = matchLog(matching, stream, log, place, [log.address]);
        if (item !== null) draft?.addEvent(item);
        if (slices.worked(1 + unitsOfWork(stream.work))) yield;
      }
  }
}

function watchersOf(
  matching: Matching,
  log: Log,
  sighted: readonly Address[],
): ReadonlyMap<CompiledStream, ReadonlySet<Address>> {
  const causes = new Map<CompiledStream, Set<Address>>();
  const causesOf = (stream: CompiledStream): Set<Address> => getOrCompute(causes, stream, () => new Set());
  const [topic0] = log.topics;
  const everywhere = topic0 === undefined ? [] : (matching.index.everywhere.get(topic0) ?? []);
  for (const stream of everywhere) causesOf(stream);
  for (const occurring of sighted)
    visitWatchers(matching, occurring, (stream, address) => {
      if (stream.looksAtLogs) causesOf(stream).add(address);
    });
  return causes;
}

/** Null: another rule of the stream excludes the log. */
function matchLog(
  { facts, draftOf }: Matching,
  stream: CompiledStream,
  log: Log,
  place: number,
  causes: readonly Address[],
): MatchDraft | null {
  if (stream.filterPossibleSpamAddresses && facts.isSpam(log.address)) return null;
  const [topic0] = log.topics;
  const options = topic0 === undefined ? undefined : stream.options.get(topic0);
  const passed = options?.filter((option) => option.passes(log, facts));
  if (passed?.length === 0) return null;
  const draft = draftOf(stream);
  if (stream.includeContractLogs) draft.addLog(place, causes);
  if (passed?.some((option) => option.includeNativeTxs)) draft.addTransaction(log.transactionHash, causes);
  if (stream.includeAllTxLogs) draft.wantAllLogs(log.transactionHash, causes);
  return draft;
}

function isWantedEvent({ topics, topicCounts }: CompiledStream, log: Log): boolean {
  if (topics === null) return true;
  const [topic0] = log.topics;
  if (topic0 === undefined || !topics.has(topic0)) return false;
  return topicCounts.get(topic0)?.has(log.topics.length) ?? true;
}

function* addAllTransactionLogs(
  { block, facts }: Matching,
  drafts: Iterable<MatchDraft>,
  slices: Slices,
): Sliced<void> {
  let placesByTransaction: Map<Hash | undefined, number[]> | null = null;
  for (const draft of drafts) {
    for (const [hash, causes] of draft.transactionsOfAllLogs) {
      placesByTransaction ??= Map.groupBy(block.logs.keys(), (place) => block.logs[place]?.transactionHash);
      const places = placesByTransaction.get(hash) ?? [];
      if (slices.worked(places.length)) yield;
      for (const place of places) {
        const log = block.logs[place];
        if (log === undefined || (draft.stream.filterPossibleSpamAddresses && facts.isSpam(log.address)))
          continue;
        draft.addLogOfTransaction(place, causes);
      }
    }
  }
}
