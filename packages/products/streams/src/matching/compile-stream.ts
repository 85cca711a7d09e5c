import type { Address, ChainId, Hash, Log } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { AbiItem, AdvancedOption, Stream, StreamConfig } from '../stream.ts';
import { type EventAbi, eventAbi, type FieldValue } from './event-fields.ts';
import { topicOf, topicOfEvent } from './event-topic.ts';
import { compileFilter, FILTER_VARIABLES } from './filter.ts';

export interface LogFacts {
  readonly chainId: ChainId;
  isSpam(address: Address): boolean;
}

export interface CompiledOption {
  readonly passes: (log: Log, facts: LogFacts) => boolean;
  readonly includeNativeTxs: boolean;
}

export interface CompiledStream {
  readonly id: string;
  readonly chainIds: ReadonlySet<ChainId>;
  /** Null: any. */
  readonly topics: ReadonlySet<Hash> | null;
  /** By ABI event; several if events differ in their indexed parameters. */
  readonly topicCounts: ReadonlyMap<Hash, ReadonlySet<number>>;
  readonly options: ReadonlyMap<Hash, readonly CompiledOption[]>;
  readonly contracts: ReadonlySet<string>;
  readonly allAddresses: boolean;
  readonly includeNativeTxs: boolean;
  readonly includeContractLogs: boolean;
  readonly includeInternalTxs: boolean;
  readonly includeAllTxLogs: boolean;
  readonly filterPossibleSpamAddresses: boolean;
  readonly looksAtLogs: boolean;
  readonly needs: WatchNeeds;
}

/** Never throws: invalid events and filters match nothing. */
export function compileStream(stream: StreamConfig & Pick<Stream, 'id'>): CompiledStream {
  const signatures = stream.topic0 ?? [];
  const topics =
    signatures.length === 0 ? null : new Set(signatures.map(topicOf).filter((topic) => topic !== null));
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

export function eventsByTopic(abi: readonly AbiItem[]): ReadonlyMap<Hash, readonly EventAbi[]> {
  const events = abi.flatMap((item) => {
    const topic = topicOfEvent(item);
    return topic === null ? [] : [{ topic, ...eventAbi(item) }];
  });
  return Map.groupBy(events, ({ topic }) => topic);
}

function compileOptions(
  options: readonly AdvancedOption[],
  events: ReadonlyMap<Hash, readonly EventAbi[]>,
): ReadonlyMap<Hash, readonly CompiledOption[]> {
  const compiled = options.flatMap(({ topic0, filter, includeNativeTxs = false }) => {
    const topic = topicOf(topic0);
    if (topic === null) return [];
    return [{ topic, passes: compileOptionFilter(filter ?? {}, events.get(topic) ?? []), includeNativeTxs }];
  });
  return Map.groupBy(compiled, ({ topic }) => topic);
}

/** One of the events whose indexed parameters agree with the log's topics must pass. */
function compileOptionFilter(filter: unknown, events: readonly EventAbi[]): CompiledOption['passes'] {
  if (typeof filter === 'object' && filter !== null && Object.keys(filter).length === 0) return () => true;
  const perEvent = events.map(({ topicCount, fields }) => ({
    topicCount,
    readers: new Map<string, Reader>([
      ...[...fields].map(([name, { read }]) => [name, read] as const),
      ...VARIABLES,
    ]),
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
