import type { Address, ChainId, Hash, Log } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { AbiItem, AdvancedOption, Stream } from '../stream.ts';
import { type EventAbi, eventAbi, type FieldValue } from './event-fields.ts';
import { topicOf, topicOfEvent } from './event-topic.ts';
import { compileFilter, FILTER_VARIABLES } from './filter.ts';

/** Log data available to a filter in addition to the event parameters. */
export interface LogFacts {
  readonly chainId: ChainId;
  isSpam(address: Address): boolean;
}

/** The `advancedOptions` entry of a stream for one topic0. */
export interface CompiledOption {
  readonly passes: (log: Log, facts: LogFacts) => boolean;
  readonly includeNativeTxs: boolean;
}

/** A stream in the form used for matching blocks. */
export interface CompiledStream {
  readonly id: string;
  readonly chainIds: ReadonlySet<ChainId>;
  /** Null: any. */
  readonly topics: ReadonlySet<Hash> | null;
  /** Topic counts that a log of each ABI event can have; several if events differ in their indexed parameters. */
  readonly topicCounts: ReadonlyMap<Hash, ReadonlySet<number>>;
  readonly options: ReadonlyMap<Hash, readonly CompiledOption[]>;
  /** Contracts and events whose logs match. */
  readonly contracts: ReadonlySet<string>;
  /** Only with topic0 and an ABI. */
  readonly allAddresses: boolean;
  readonly includeNativeTxs: boolean;
  readonly includeContractLogs: boolean;
  readonly includeInternalTxs: boolean;
  readonly includeAllTxLogs: boolean;
  readonly filterPossibleSpamAddresses: boolean;
  /** Whether logs are examined: to include them, their transactions, or all logs of these. */
  readonly looksAtLogs: boolean;
  readonly needs: WatchNeeds;
}

type MatchedConfig = Pick<
  Stream,
  | 'id'
  | 'chainIds'
  | 'topic0'
  | 'abi'
  | 'advancedOptions'
  | 'allAddresses'
  | 'includeNativeTxs'
  | 'includeContractLogs'
  | 'includeInternalTxs'
  | 'includeAllTxLogs'
  | 'filterPossibleSpamAddresses'
  | 'contracts'
>;

/**
 * Compiles a stream for matching: signatures hashed, ABI by topic0, filters compiled. Never throws. Invalid events and
 * filters match nothing (validation already refused them).
 */
export function compileStream(stream: MatchedConfig): CompiledStream {
  const topics = compileTopics(stream.topic0);
  const events = eventsByTopic(stream.abi ?? []);
  const options = compileOptions(stream.advancedOptions ?? [], events);
  const nativeTxsOfEvents = (stream.advancedOptions ?? []).some((option) => option.includeNativeTxs === true);
  return {
    id: stream.id,
    chainIds: new Set(stream.chainIds),
    topics,
    topicCounts: new Map([...events].map(([topic, abis]) => [topic, new Set(abis.map((abi) => abi.topicCount))])),
    options,
    contracts: new Set(stream.contracts ?? []),
    allAddresses: stream.allAddresses && topics !== null && events.size > 0,
    includeNativeTxs: stream.includeNativeTxs,
    includeContractLogs: stream.includeContractLogs,
    includeInternalTxs: stream.includeInternalTxs,
    includeAllTxLogs: stream.includeAllTxLogs,
    filterPossibleSpamAddresses: stream.filterPossibleSpamAddresses,
    looksAtLogs: stream.includeContractLogs || stream.includeAllTxLogs || nativeTxsOfEvents,
    needs: {
      transactions: stream.includeNativeTxs || stream.includeAllTxLogs || nativeTxsOfEvents,
      internalTransfers: stream.includeInternalTxs,
    },
  };
}

function compileTopics(signatures: readonly string[] | null): ReadonlySet<Hash> | null {
  if (signatures === null || signatures.length === 0) return null;
  return new Set(signatures.map(topicOf).filter((topic) => topic !== null));
}

/** Returns the events of an ABI by topic0. */
export function eventsByTopic(abi: readonly AbiItem[]): ReadonlyMap<Hash, readonly EventAbi[]> {
  const events = new Map<Hash, EventAbi[]>();
  for (const item of abi) {
    const topic = topicOfEvent(item);
    if (topic === null) continue;
    const known = events.get(topic);
    if (known === undefined) events.set(topic, [eventAbi(item)]);
    else known.push(eventAbi(item));
  }
  return events;
}

function compileOptions(
  options: readonly AdvancedOption[],
  events: ReadonlyMap<Hash, readonly EventAbi[]>,
): ReadonlyMap<Hash, readonly CompiledOption[]> {
  const compiled = new Map<Hash, CompiledOption[]>();
  for (const option of options) {
    const topic = topicOf(option.topic0);
    if (topic === null) continue;
    const passes = compileOptionFilter(option.filter ?? {}, events.get(topic) ?? []);
    const entry = { passes, includeNativeTxs: option.includeNativeTxs === true };
    compiled.set(topic, [...(compiled.get(topic) ?? []), entry]);
  }
  return compiled;
}

/** Passes if the filter passes for one of the events whose indexed parameters agree with the log's topics. */
function compileOptionFilter(filter: unknown, events: readonly EventAbi[]): CompiledOption['passes'] {
  if (typeof filter === 'object' && filter !== null && Object.keys(filter).length === 0) return () => true;
  const perEvent = events.map(({ topicCount, fields }) => ({
    topicCount,
    readers: new Map<string, Reader>([...[...fields].map(([name, { read }]) => [name, read] as const), ...VARIABLES]),
    predicate: compileFilter(filter, new Map([...fields].map(([name, { kind }]) => [name, kind]))),
  }));
  return (log, facts) =>
    perEvent.some(
      ({ topicCount, readers, predicate }) =>
        topicCount === log.topics.length && predicate((name) => readers.get(name)?.(log, facts)),
    );
}

type Reader = (log: Log, facts: LogFacts) => FieldValue | undefined;

const VARIABLES: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [FILTER_VARIABLES.contractAddress, (log) => log.address],
  [FILTER_VARIABLES.chainId, (_log, { chainId }) => BigInt(chainId)],
  [FILTER_VARIABLES.possibleSpam, (log, facts) => facts.isSpam(log.address)],
]);
