import type { Address, ChainId, Hash, Log } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import type { AbiItem, AdvancedOption, Stream, StreamConfig } from '../stream.ts';
import { type EventAbi, eventAbi, type FieldValue } from './event-fields.ts';
import { topicOf, topicOfEvent } from './event-topic.ts';
import { compileFilter, FILTER_VARIABLES, type FilterWork, mostWork, sumOfWork } from './filter.ts';
import type { ParameterValues } from './parameter-values.ts';

export interface LogFacts {
  readonly chainId: ChainId;
  readonly values: ParameterValues;
  isSpam(address: Address): boolean;
}

export interface CompiledOption {
  readonly passes: (log: Log, facts: LogFacts) => boolean;
  readonly work: FilterWork;
  readonly includeNativeTxs: boolean;
}

export interface CompiledStream {
  readonly id: string;
  /** API key that created it. */
  readonly key: string;
  readonly chainIds: ReadonlySet<ChainId>;
  /** Null: any. */
  readonly topics: ReadonlySet<Hash> | null;
  /** By ABI event; several if events differ in their indexed parameters. */
  readonly topicCounts: ReadonlyMap<Hash, ReadonlySet<number>>;
  readonly options: ReadonlyMap<Hash, readonly CompiledOption[]>;
  /** The largest of any topic0. */
  readonly work: FilterWork;
  readonly contracts: ReadonlySet<string>;
  readonly allAddresses: boolean;
  readonly includeNativeTxs: boolean;
  readonly includeContractLogs: boolean;
  readonly includeInternalTxs: boolean;
  readonly includeAllTxLogs: boolean;
  readonly filterPossibleSpamAddresses: boolean;
  /** Or a filter does. */
  readonly readsSpam: boolean;
  readonly looksAtLogs: boolean;
  readonly needs: WatchNeeds;
}

export type StreamToCompile = StreamConfig & Pick<Stream, 'id'> & { readonly createdBy?: string | null };

/** Never throws: invalid events and filters match nothing. */
export function compileStream(stream: StreamToCompile): CompiledStream {
  const signatures = stream.topic0 ?? [];
  const topics =
    signatures.length === 0 ? null : new Set(signatures.map(topicOf).filter((topic) => topic !== null));
  const events = eventsByTopic(stream.abi ?? []);
  const options = compileOptions(stream.advancedOptions ?? [], events);
  const nativeTxsOfEvents = (stream.advancedOptions ?? []).some((option) => option.includeNativeTxs === true);
  return {
    id: stream.id,
    key: stream.createdBy ?? '',
    chainIds: new Set(stream.chainIds),
    topics,
    topicCounts: new Map([...events].map(([topic, abis]) => [topic, new Set(abis.map((abi) => abi.topicCount))])),
    options,
    work: mostWork([...options.values()].map((of) => sumOfWork(of.map(({ work }) => work)))),
    contracts: new Set(stream.contracts ?? []),
    allAddresses: stream.allAddresses && topics !== null && events.size > 0,
    includeNativeTxs: stream.includeNativeTxs,
    includeContractLogs: stream.includeContractLogs,
    includeInternalTxs: stream.includeInternalTxs,
    includeAllTxLogs: stream.includeAllTxLogs,
    filterPossibleSpamAddresses: stream.filterPossibleSpamAddresses,
    readsSpam:
      stream.filterPossibleSpamAddresses ||
      JSON.stringify(stream.advancedOptions ?? []).includes(FILTER_VARIABLES.possibleSpam),
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
    return [{ topic, ...compileOptionFilter(filter ?? {}, events.get(topic) ?? []), includeNativeTxs }];
  });
  return Map.groupBy(compiled, ({ topic }) => topic);
}

/** One of the events whose indexed parameters agree with the log's topics must pass. */
function compileOptionFilter(
  filter: unknown,
  events: readonly EventAbi[],
): Pick<CompiledOption, 'passes' | 'work'> {
  if (typeof filter === 'object' && filter !== null && Object.keys(filter).length === 0)
    return { passes: () => true, work: sumOfWork([]) };
  const perEvent = events.map(({ topicCount, fields }) => ({
    topicCount,
    fields,
    filter: compileFilter(filter, new Map([...fields].map(([name, { kind }]) => [name, kind]))),
  }));
  const passes: CompiledOption['passes'] = (log, facts) =>
    perEvent.some(
      ({ topicCount, fields, filter: compiled }) =>
        topicCount === log.topics.length &&
        compiled.passes((name, bytes) => {
          const variable = VARIABLES.get(name);
          if (variable !== undefined) return variable(log, facts);
          const field = fields.get(name);
          return field && facts.values.read(log, field, bytes);
        }),
    );
  return { passes, work: sumOfWork(perEvent.map((one) => one.filter.work)) };
}

type VariableReader = (log: Log, facts: LogFacts) => FieldValue;

const VARIABLES: ReadonlyMap<string, VariableReader> = new Map<string, VariableReader>([
  [FILTER_VARIABLES.contractAddress, (log) => log.address],
  [FILTER_VARIABLES.chainId, (_log, { chainId }) => BigInt(chainId)],
  [FILTER_VARIABLES.possibleSpam, (log, facts) => facts.isSpam(log.address)],
]);
