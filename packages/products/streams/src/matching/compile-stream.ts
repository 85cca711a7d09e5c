import { type Address, type ChainId, type Hash, keccak256Hex, type Log } from '@chainstead/core';
import type { WatchNeeds } from '@chainstead/sync';
import { toEventSignature } from 'viem/utils';
import type { AbiItem, AdvancedOption, Stream, StreamConfig } from '../stream.ts';
import { type EventAbi, type EventField, eventAbi, type FieldValue } from './event-fields.ts';
import { compileFilter, FILTER_VARIABLES, type FilterWork, mostWork, sumOfWork } from './filter.ts';

export interface LogFacts {
  readonly chainId: ChainId;
  readonly values: ParameterValues;
  isSpam(address: Address): boolean;
}

interface CompiledOption {
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

type StreamToCompile = StreamConfig & Pick<Stream, 'id'> & { readonly createdBy?: string | null };

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

const HASH = /^0x[0-9a-f]{64}$/i;
const SIGNATURE = /^([\w$]+)(\(.*\))$/;
const TYPE =
  /^(?:(?:u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|1[0-9][0-9]|2[0-4][0-9]|25[0-6])|address|bool|bytes(?:[1-9]|[12]\d|3[0-2])?|string|function|u?fixed(?:\d+x\d+))(?:\[\d*\])*|(?:\[\d*\])*)$/;

/** A signature (with names, `indexed` and `uint`) or a hash. Null for any other text. */
export function topicOf(signature: string): Hash | null {
  if (HASH.test(signature)) return signature.toLowerCase() as Hash;
  return selectorOf(signature.trim());
}

/** Null for other items, anonymous events and unknown types. */
export function topicOfEvent(item: AbiItem): Hash | null {
  if (item.type !== 'event' || item.anonymous === true || item.name === undefined) return null;
  return selectorOf({ ...item, inputs: item.inputs ?? [] });
}

export interface EventTopic {
  readonly signature: string;
  readonly topic0: Hash;
}

export function eventsOf(abi: readonly AbiItem[]): readonly EventTopic[] {
  const events = new Map<Hash, EventTopic>();
  for (const item of abi) {
    const topic0 = topicOfEvent(item);
    const signature = topic0 === null ? null : canonicalSignature({ ...item, inputs: item.inputs ?? [] });
    if (topic0 !== null && signature !== null) events.set(topic0, { signature, topic0 });
  }
  return [...events.values()];
}

function selectorOf(event: unknown): Hash | null {
  const canonical = canonicalSignature(event);
  return canonical === null ? null : keccak256Hex(Buffer.from(canonical));
}

function canonicalSignature(event: unknown): string | null {
  let signature: string;
  try {
    signature = toEventSignature(event as Parameters<typeof toEventSignature>[0]);
  } catch {
    // No topic0 if viem can't parse it; validation reports it to the owner.
    return null;
  }
  const [, name, inputs] = SIGNATURE.exec(signature) ?? [];
  if (name === undefined || inputs === undefined) return null;
  const canonical = inputs.replace(/\b(u?int)\b/g, '$1256');
  return canonical.split(/[(),]/).every((type) => TYPE.test(type)) ? `${name}${canonical}` : null;
}

/** Each parameter is decoded once for all streams and filters. */
interface ParameterValues {
  /** @param bytes of the longest literal: a longer value may be cut after more */
  read(log: Log, field: EventField, bytes: number): FieldValue | undefined;
}

const CUT_BYTES_MIN = 64;

/** Holds one log at a time: values may be megabytes. */
export function createParameterValues(): ParameterValues {
  const values = new Map<string, { readonly cut: number; readonly value: FieldValue | undefined }>();
  let current: Log | null = null;
  return {
    read(log, field, bytes) {
      if (log !== current) {
        values.clear();
        current = log;
      }
      const known = values.get(field.place);
      if (known !== undefined && known.cut > bytes) return known.value;
      const cut = cutAfter(bytes);
      const value = field.read(log, cut);
      values.set(field.place, { cut, value });
      return value;
    },
  };
}

/** Powers of two, so that literals of growing lengths share most values. */
function cutAfter(bytes: number): number {
  return Math.max(CUT_BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes + 1)));
}
