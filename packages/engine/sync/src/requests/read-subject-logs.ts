import type { Chain } from '@chainstead/chains';
import type { BlockRange, Hash, Log } from '@chainstead/core';
import type { LogsAnswer, LogsOptions, LogsQuery, UpstreamPool } from '@chainstead/rpc';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset, HistoryFilter } from '../dataset/dataset.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import type { BlockFacts } from '../read/decoded-batch.ts';
import { weighLogs } from '../read/large-blocks.ts';
import { blocksOfLogs } from '../read/read-range.ts';

/** For several blocks. Chunks of ordinary logs have a tenth of it. */
const CHUNK_BYTES_MAX = 16 * 1024 * 1024;

interface SubjectRead {
  /** In chain order, without duplicates. */
  readonly parts: readonly { readonly dataset: Dataset; readonly logs: readonly Log[] }[];
  readonly weight: number;
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  /** Also those that returned no log. */
  readonly upstreams: ReadonlySet<string>;
  readonly calls: number;
}

export function filtersOf(dataset: Dataset, chain: Chain, { kind, address }: Subject): readonly HistoryFilter[] {
  const { histories, transactionHistories } = dataset;
  if (kind === 'wallet') return histories?.ofWallet(chain, address) ?? [];
  if (kind === 'contract') return histories?.ofContract(chain, address) ?? [];
  if (kind === 'emitter') return histories?.ofEmitter?.(chain, address) ?? [];
  if (kind === 'trader') return transactionHistories?.filters(chain, address) ?? [];
  return [];
}

export function toQuery({ topics, indexed, addresses }: HistoryFilter): Omit<LogsQuery, 'range'> {
  return { topics, ...(indexed && { indexed }), ...(addresses && { addresses }) };
}

/**
 * Logs that need others of their block come with them.
 * @throws ReorgedWhileReadingError if responses contradict each other; RangeTooLargeError
 */
export async function readSubjectLogs(
  pool: UpstreamPool,
  requested: {
    readonly chain: Chain;
    readonly datasets: readonly Dataset[];
    readonly subject: Subject;
    readonly range: BlockRange;
    readonly chunkBytesMax?: number | undefined;
    /** All filters share them. */
    readonly counted: NonNullable<LogsOptions['counted']>;
  },
  signal: AbortSignal,
): Promise<SubjectRead> {
  const { chain, subject, range, counted, chunkBytesMax = CHUNK_BYTES_MAX } = requested;
  const wanted = requested.datasets.map((dataset) => ({ dataset, filters: filtersOf(dataset, chain, subject) }));
  const filters = joinFilters(wanted.flatMap((want) => want.filters));
  let calls = 0;
  const sources: LogsAnswer['sources'][number][] = [];
  const readLogs = async (filter: HistoryFilter, of: BlockRange) => {
    const query = { range: of, ...toQuery(filter) };
    const answer = await pool.getLogs(query, { signal, minBlock: of.to, bytesMax: chunkBytesMax, counted });
    calls += answer.calls;
    sources.push(...answer.sources);
    return answer;
  };
  const logsOfAll = collect(chain, await Promise.all(filters.map((filter) => readLogs(filter, range))));
  const parts = await Promise.all(
    wanted.map(async ({ dataset, filters: own }) => {
      const logs = logsOfAll.filter((log) => own.some((filter) => givesLog(filter, log)));
      const related = relatedOf(chain, dataset, own, logs);
      const answers = await Promise.all(
        related.map(({ block, filter }) => readLogs(filter, { from: block, to: block })),
      );
      return { dataset, logs: inOrder(collect(chain, [{ logs }, ...answers])) };
    }),
  );
  // Responses for different datasets may contradict each other too.
  const all = inOrder(collect(chain, parts));
  const { blocks: facts, headersRead } = await blocksOfLogs(pool, all, signal);
  const upstreamOf = (number: number): string | undefined =>
    sources.find(({ range: { from, to } }) => from <= number && number <= to)?.upstream;
  const blocks = new Map([...facts].map(([number, one]) => [number, { ...one, upstream: upstreamOf(number) }]));
  const upstreams = new Set(sources.map(({ upstream }) => upstream));
  return { parts, weight: weighLogs(all), blocks, upstreams, calls: calls + headersRead };
}

/** Self-transfers match two filters. */
function collect({ key }: Chain, answers: readonly { readonly logs: readonly Log[] }[]): Log[] {
  const byPlace = new Map<string, Log>();
  for (const log of answers.flatMap(({ logs }) => logs)) {
    const place = `${log.blockNumber}.${log.transactionIndex}.${log.logIndex}`;
    const before = byPlace.get(place);
    if (before === undefined || before.blockTimestamp === null) byPlace.set(place, log);
    const what = `two answers differ in a log of block ${log.blockNumber}`;
    if (
      before !== undefined &&
      (before.blockHash !== log.blockHash || before.transactionHash !== log.transactionHash)
    )
      throw new ReorgedWhileReadingError({ chain: key, what });
  }
  return [...byPlace.values()];
}

function relatedOf(
  chain: Chain,
  { histories, topics }: Dataset,
  filters: readonly HistoryFilter[],
  logs: readonly Log[],
): { readonly block: number; readonly filter: HistoryFilter }[] {
  const contracts = histories?.wholeBlockContracts?.(chain) ?? [];
  const wholeTopics = histories?.wholeBlockTopics?.(chain) ?? [];
  return [
    ...contracts.map((contract) => ({
      filter: { topics: topics(chain), addresses: [contract] },
      asksFor: (log: Log) => log.address === contract,
    })),
    ...wholeTopics.map((topic) => ({
      filter: { topics: [topic] },
      asksFor: (log: Log) => log.topics[0] === topic,
    })),
  ].flatMap(({ filter, asksFor }) => {
    if (filters.some((own) => givesAll(own, filter))) return [];
    const blocks = new Set(logs.filter(asksFor).map((log) => log.blockNumber));
    return [...blocks].map((block) => ({ block, filter }));
  });
}

function givesAll({ topics, indexed, addresses }: HistoryFilter, wanted: HistoryFilter): boolean {
  return (
    indexed === undefined &&
    (addresses === undefined || wanted.addresses?.every((address) => addresses.includes(address)) === true) &&
    (topics.length === 0 || (wanted.topics.length > 0 && wanted.topics.every((topic) => topics.includes(topic))))
  );
}

function inOrder(logs: Log[]): Log[] {
  return logs.sort(
    (a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex,
  );
}

/** Together, they match at least the same logs. Joins equal indexed topics. */
export function joinFilters(filters: readonly HistoryFilter[]): readonly HistoryFilter[] {
  const joined: HistoryFilter[] = [];
  for (const filter of filters) {
    const index = joined.findIndex((before) => mayJoin(before, filter));
    const other = joined[index];
    if (other === undefined) joined.push(filter);
    else joined[index] = join(other, filter);
  }
  return joined;
}

/** As most nodes: a filter with four positions matches only logs with four topics. */
export function givesLog({ topics, indexed = [], addresses }: HistoryFilter, log: Log): boolean {
  if (addresses !== undefined && !addresses.includes(log.address)) return false;
  if (indexed.length > 0 && log.topics.length < 1 + indexed.length) return false;
  if (topics.length > 0 && !isAmong(topics, log.topics[0])) return false;
  return indexed.every((wanted, position) => wanted === null || isAmong(wanted, log.topics[position + 1]));
}

function isAmong(wanted: readonly Hash[], topic: Hash | undefined): boolean {
  return topic !== undefined && wanted.includes(topic);
}

function mayJoin(first: HistoryFilter, other: HistoryFilter): boolean {
  const named = namedBy(first);
  if (named !== namedBy(other)) return false;
  if (JSON.stringify(first.addresses) === JSON.stringify(other.addresses)) return true;
  const [ofAny, ofSome] = first.addresses === undefined ? [first, other] : [other, first];
  return ofAny.addresses === undefined && named !== NO_TOPICS && lengthOf(ofAny) <= lengthOf(ofSome);
}

function lengthOf({ indexed = [] }: HistoryFilter): number {
  return indexed.length;
}

/** Trailing nulls only define the number of topics. */
function namedBy({ indexed = [] }: Pick<HistoryFilter, 'indexed'>): string {
  const last = indexed.findLastIndex((wanted) => wanted !== null);
  return JSON.stringify(indexed.slice(0, last + 1));
}

const NO_TOPICS = namedBy({});
function join(first: HistoryFilter, other: HistoryFilter): HistoryFilter {
  const { indexed } = lengthOf(first) <= lengthOf(other) ? first : other;
  const { addresses } = first.addresses === undefined ? first : other;
  const takesAny = first.topics.length === 0 || other.topics.length === 0;
  const topics = takesAny ? [] : [...new Set([...first.topics, ...other.topics])];
  return { topics, ...(indexed && { indexed }), ...(addresses && { addresses }) };
}
