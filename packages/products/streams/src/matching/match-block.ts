import { type Address, getOrCompute, type Hash, type Log } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { type BlockDrafts, createBlockDrafts, type MatchDraft } from './block-drafts.ts';
import type { BlockSightings } from './block-sightings.ts';
import { type CompiledStream, createParameterValues, type LogFacts } from './compile-stream.ts';
import { unitsOfWork } from './filter.ts';
import {
  createSlices,
  type Match,
  type NamedLogs,
  type Sliced,
  type Slices,
  type WatchedAddresses,
} from './match.ts';
import type { StreamIndex } from './stream-index.ts';
import { BLOCK_BUDGET, UNITS_PER_ITEM, UNITS_PER_VISIT, type WorkBudget } from './work-budget.ts';

export interface MatchFacts extends Pick<LogFacts, 'isSpam'> {
  readonly named?: NamedLogs;
}

const NO_NAMES: NamedLogs = new Map();

export interface MatchedBlock {
  /** By stream id, without empty matches. */
  readonly matches: readonly Match[];
  /** Streams whose items exceed the budget. */
  readonly deferred: ReadonlySet<CompiledStream>;
}

/**
 * Pure. Costs depend on the sightings, not the streams.
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
  budget: WorkBudget = BLOCK_BUDGET,
): Sliced<MatchedBlock> {
  const drafts = createBlockDrafts(budget);
  const logFacts = {
    chainId: index.chainId,
    values: createParameterValues(),
    isSpam: (address: Address) => facts.isSpam(address),
  };
  const { block } = sightings;
  const { named = NO_NAMES } = facts;
  const matching: Matching = { block, sightings, watched, index, named, facts: logFacts, drafts };
  const slices = createSlices();
  if (watched.size > 0) {
    yield* matchTransactions(matching, slices);
    yield* matchInternalTransfers(matching, slices);
  }
  if (watched.size > 0 || index.everywhere.size > 0 || named.size > 0) yield* matchLogs(matching, slices);
  yield* addAllTransactionLogs(matching, slices);
  const matches: Match[] = [];
  for (const draft of drafts.all()) {
    const match = draft.finish(block, index.chainId);
    if (match !== null) matches.push(match);
    if (slices.worked(UNITS_PER_ITEM * draft.items())) yield;
  }
  matches.sort((one, other) => (one.streamId < other.streamId ? -1 : 1));
  return { matches, deferred: drafts.deferred };
}

interface Matching {
  readonly block: WatchedBlock;
  readonly sightings: BlockSightings;
  readonly watched: WatchedAddresses;
  readonly index: StreamIndex;
  readonly named: NamedLogs;
  readonly facts: LogFacts;
  readonly drafts: BlockDrafts;
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
      if (stream.includeNativeTxs) matching.drafts.of(stream)?.addTransaction(hash, [address]);
      if (stream.includeAllTxLogs) matching.drafts.of(stream)?.wantAllLogs(hash, [address]);
    };
    visitWatchers(matching, from, visit);
    visitWatchers(matching, to, visit);
    if (slices.worked(UNITS_PER_ITEM * (watcherCount(matching, from) + watcherCount(matching, to)))) yield;
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
      if (stream.includeInternalTxs) matching.drafts.of(stream)?.addInternalTransfer(place, address);
    };
    visitWatchers(matching, transfer.from, visit);
    visitWatchers(matching, transfer.to, visit);
    const watchers = watcherCount(matching, transfer.from) + watcherCount(matching, transfer.to);
    if (slices.worked(UNITS_PER_ITEM * watchers)) yield;
  }
}

function* matchLogs(matching: Matching, slices: Slices): Sliced<void> {
  const { block, sightings, index, named } = matching;
  const places = index.everywhere.size + named.size === 0 ? sightings.logs.keys() : block.logs.keys();
  for (const place of places) {
    const log = block.logs[place];
    if (log === undefined) continue;
    const sighted = sightings.logs.get(place) ?? [];
    for (const [stream, addresses] of yield* watchersOf(matching, log, sighted, slices)) {
      if (isWantedEvent(stream, log)) matchLog(matching, stream, log, place, [...addresses]);
      if (slices.worked(UNITS_PER_ITEM * (1 + addresses.size) + unitsOfWork(stream.work))) yield;
    }
    for (const { name, item } of named.get(log) ?? [])
      for (const stream of index.byContract.get(name) ?? []) {
        const draft = matchLog(matching, stream, log, place, [log.address]);
        if (item !== null) draft?.addEvent(item);
        if (slices.worked(UNITS_PER_ITEM + unitsOfWork(stream.work))) yield;
      }
  }
}

function* watchersOf(
  matching: Matching,
  log: Log,
  sighted: Iterable<Address>,
  slices: Slices,
): Sliced<ReadonlyMap<CompiledStream, ReadonlySet<Address>>> {
  const causes = new Map<CompiledStream, Set<Address>>();
  const causesOf = (stream: CompiledStream): Set<Address> => getOrCompute(causes, stream, () => new Set());
  const [topic0] = log.topics;
  const everywhere = topic0 === undefined ? [] : (matching.index.everywhere.get(topic0) ?? []);
  for (const stream of everywhere) causesOf(stream);
  for (const occurring of sighted) {
    visitWatchers(matching, occurring, (stream, address) => {
      if (stream.looksAtLogs) causesOf(stream).add(address);
    });
    if (slices.worked(UNITS_PER_VISIT * watcherCount(matching, occurring))) yield;
  }
  return causes;
}

/** Null: another rule of the stream excludes the log. */
function matchLog(
  { facts, drafts }: Matching,
  stream: CompiledStream,
  log: Log,
  place: number,
  causes: readonly Address[],
): MatchDraft | null {
  if (drafts.deferred.has(stream)) return null;
  if (stream.filterPossibleSpamAddresses && facts.isSpam(log.address)) return null;
  const [topic0] = log.topics;
  const options = topic0 === undefined ? undefined : stream.options.get(topic0);
  const passed = options?.filter((option) => option.passes(log, facts));
  if (passed?.length === 0) return null;
  const draft = drafts.of(stream);
  if (stream.includeContractLogs) draft?.addLog(place, causes);
  if (passed?.some((option) => option.includeNativeTxs)) draft?.addTransaction(log.transactionHash, causes);
  if (stream.includeAllTxLogs) draft?.wantAllLogs(log.transactionHash, causes);
  return draft;
}

function isWantedEvent({ topics, topicCounts }: CompiledStream, log: Log): boolean {
  if (topics === null) return true;
  const [topic0] = log.topics;
  if (topic0 === undefined || !topics.has(topic0)) return false;
  return topicCounts.get(topic0)?.has(log.topics.length) ?? true;
}

function* addAllTransactionLogs({ block, facts, drafts }: Matching, slices: Slices): Sliced<void> {
  let placesByTransaction: Map<Hash | undefined, number[]> | null = null;
  for (const draft of drafts.all()) {
    for (const [hash, causes] of draft.transactionsOfAllLogs) {
      placesByTransaction ??= Map.groupBy(block.logs.keys(), (place) => block.logs[place]?.transactionHash);
      const places = placesByTransaction.get(hash) ?? [];
      if (slices.worked(UNITS_PER_ITEM * places.length)) yield;
      if (drafts.deferred.has(draft.stream)) break;
      for (const place of places) {
        const log = block.logs[place];
        if (log === undefined || (draft.stream.filterPossibleSpamAddresses && facts.isSpam(log.address)))
          continue;
        draft.addLogOfTransaction(place, causes);
      }
    }
  }
}
