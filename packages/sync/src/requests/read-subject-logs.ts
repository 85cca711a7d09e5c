/** Reads a subject's logs of a range from the nodes, for the same decoders as the backfill. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Log } from '@chainstead/core';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset, HistoryFilter } from '../dataset/dataset.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import type { BlockFacts } from '../read/decoded-batch.ts';
import { blocksOfLogs } from '../read/read-range.ts';
import { weighLogs } from '../read/weigh.ts';
import { givesLog, joinFilters } from './join-filters.ts';

/** Largest logs of a chunk of several blocks, bytes of responses. Chunks of ordinary logs have a tenth of it. */
const CHUNK_BYTES_MAX = 16 * 1024 * 1024;

interface SubjectRead {
  /** Logs by dataset, in chain order, without duplicates. */
  readonly parts: readonly { readonly dataset: Dataset; readonly logs: readonly Log[] }[];
  /** Weight of the distinct logs of all datasets. */
  readonly weight: number;
  /** Every block of the logs. */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  /** Node calls made. */
  readonly calls: number;
}

/** Returns the filters of a subject; empty if the dataset has no on-demand backfill for it. */
export function filtersOf(dataset: Dataset, chain: Chain, { kind, address }: Subject): readonly HistoryFilter[] {
  const { histories, transactionHistories } = dataset;
  switch (kind) {
    case 'wallet':
      return histories?.ofWallet(chain, address) ?? [];
    case 'contract':
      return histories?.ofContract(chain, address) ?? [];
    case 'emitter':
      return histories?.ofEmitter?.(chain, address) ?? [];
    case 'trader':
      return transactionHistories?.filters(chain, address) ?? [];
    // Transactions are not logs.
    case 'sender':
    case 'receiver':
      return [];
  }
}

/** Returns a filter as a log query of the pool. */
export function toQuery({ topics, indexed, addresses }: HistoryFilter): Omit<LogsQuery, 'range'> {
  return { topics, ...(indexed === undefined ? {} : { indexed }), ...(addresses === undefined ? {} : { addresses }) };
}

/**
 * Reads every filter of some datasets over the range; common filters once. Logs that can only be decoded with others of
 * their block, because of their contract or topic, are read with those.
 * @throws ReorgedWhileReadingError if responses contradict each other; RangeTooLargeError
 */
export async function readSubjectLogs(
  pool: UpstreamPool,
  requested: {
    readonly chain: Chain;
    readonly datasets: readonly Dataset[];
    readonly subject: Subject;
    readonly range: BlockRange;
    /** @default CHUNK_BYTES_MAX */
    readonly chunkBytesMax?: number | undefined;
  },
  signal: AbortSignal,
): Promise<SubjectRead> {
  const { chain, subject, range, chunkBytesMax = CHUNK_BYTES_MAX } = requested;
  const wanted = requested.datasets.map((dataset) => ({ dataset, filters: filtersOf(dataset, chain, subject) }));
  const filters = joinFilters(wanted.flatMap((one) => one.filters));
  const ask = (query: LogsQuery) => pool.getLogs(query, { signal, minBlock: query.range.to, bytesMax: chunkBytesMax });
  const answers = await Promise.all(filters.map((filter) => ask({ range, ...toQuery(filter) })));
  const found = [...collect(chain, answers).values()];
  const read = await Promise.all(
    wanted.map(async ({ dataset, filters: own }) => {
      const logs = found.filter((log) => own.some((filter) => givesLog(filter, log)));
      const besides = await Promise.all(
        relatedOf(chain, dataset, own, logs).map(({ block, filter }) =>
          ask({ range: { from: block, to: block }, ...toQuery(filter) }),
        ),
      );
      return { dataset, besides, logs: inOrder([...collect(chain, [{ logs }, ...besides]).values()]) };
    }),
  );
  // Responses for different datasets may contradict each other too.
  const all = inOrder([...collect(chain, read).values()]);
  const { blocks, headersRead } = await blocksOfLogs(pool, all, signal);
  const calls = [...answers, ...read.flatMap(({ besides }) => besides)];
  return {
    parts: read.map(({ dataset, logs }) => ({ dataset, logs })),
    weight: weighLogs(all),
    blocks,
    calls: calls.reduce((sum, answer) => sum + answer.calls, headersRead),
  };
}

/** Deduplicated: self-transfers match two filters. */
function collect(chain: Chain, answers: readonly { readonly logs: readonly Log[] }[]): Map<string, Log> {
  const found = new Map<string, Log>();
  for (const { logs } of answers)
    for (const log of logs) {
      const place = `${log.blockNumber}.${log.transactionIndex}.${log.logIndex}`;
      const known = found.get(place);
      if (known === undefined || known.blockTimestamp === null) found.set(place, log);
      if (known !== undefined && (known.blockHash !== log.blockHash || known.transactionHash !== log.transactionHash))
        throw new ReorgedWhileReadingError({
          chain: chain.key,
          what: `two answers differ in a log of block ${log.blockNumber}`,
        });
    }
  return found;
}

/** Returns filters for single blocks to read too, unless another filter matches all these logs. */
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
    if (filters.some((one) => givesAll(one, filter))) return [];
    const blocks = new Set(logs.filter(asksFor).map((log) => log.blockNumber));
    return [...blocks].map((block) => ({ block, filter }));
  });
}

/** Returns whether a filter matches every log that the wanted one matches. */
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
