/** The logs of a subject in a range, from the nodes, ready to be decoded as the backfill would. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Log } from '@chainstead/core';
import type { LogsQuery, UpstreamPool } from '@chainstead/rpc';
import type { Dataset, HistoryFilter } from '../dataset.ts';
import type { BlockFacts } from '../decoded-batch.ts';
import { ChainMovedError } from '../errors.ts';
import { blocksOfLogs } from '../read-range.ts';
import { givesLog, joinFilters } from './join-filters.ts';
import type { Subject } from './subject.ts';

interface SubjectRead {
  /** By dataset: in chain order, none twice. */
  readonly parts: readonly { readonly dataset: Dataset; readonly logs: readonly Log[] }[];
  /** Different logs of all datasets. */
  readonly logCount: number;
  /** Every block of the logs. */
  readonly blocks: ReadonlyMap<number, BlockFacts>;
  /** Node calls that it took. */
  readonly calls: number;
}

/** The filters of a subject; none where the dataset has no histories. */
export function filtersOf(dataset: Dataset, chain: Chain, { kind, address }: Subject): readonly HistoryFilter[] {
  const { histories } = dataset;
  if (histories === undefined) return [];
  switch (kind) {
    case 'wallet':
      return histories.ofWallet(chain, address);
    case 'contract':
      return histories.ofContract(chain, address);
    case 'emitter':
      return histories.ofEmitter?.(chain, address) ?? [];
    // Transactions are no logs.
    case 'sender':
    case 'receiver':
      return [];
  }
}

/** A filter as what the pool is asked. */
export function toQuery({ topics, indexed, addresses }: HistoryFilter): Omit<LogsQuery, 'range'> {
  return { topics, ...(indexed === undefined ? {} : { indexed }), ...(addresses === undefined ? {} : { addresses }) };
}

/**
 * Reads every filter of some datasets over the range, what several of them ask for once. Logs that can only be decoded beside others of
 * their block, by their contract or by their topic, bring those with them. @throws ChainMovedError when answers contradict each other
 */
export async function readSubjectLogs(
  pool: UpstreamPool,
  asked: {
    readonly chain: Chain;
    readonly datasets: readonly Dataset[];
    readonly subject: Subject;
    readonly range: BlockRange;
  },
  signal: AbortSignal,
): Promise<SubjectRead> {
  const { chain, subject, range } = asked;
  const wanted = asked.datasets.map((dataset) => ({ dataset, filters: filtersOf(dataset, chain, subject) }));
  const filters = joinFilters(wanted.flatMap((one) => one.filters));
  const ask = (query: LogsQuery) => pool.getLogs(query, { signal, minBlock: query.range.to });
  const answers = await Promise.all(filters.map((filter) => ask({ range, ...toQuery(filter) })));
  const found = [...collect(chain, answers).values()];
  const read = await Promise.all(
    wanted.map(async ({ dataset, filters: own }) => {
      const logs = found.filter((log) => own.some((filter) => givesLog(filter, log)));
      const besides = await Promise.all(
        besideOf(chain, dataset, own, logs).map(({ block, filter }) =>
          ask({ range: { from: block, to: block }, ...toQuery(filter) }),
        ),
      );
      return { dataset, besides, logs: inOrder([...collect(chain, [{ logs }, ...besides]).values()]) };
    }),
  );
  // Answers for different datasets may contradict each other too.
  const all = inOrder([...collect(chain, read).values()]);
  const { blocks, headersRead } = await blocksOfLogs(pool, all, signal);
  const calls = [...answers, ...read.flatMap(({ besides }) => besides)];
  return {
    parts: read.map(({ dataset, logs }) => ({ dataset, logs })),
    logCount: all.length,
    blocks,
    calls: calls.reduce((sum, answer) => sum + answer.calls, headersRead),
  };
}

/** Self-transfers match two filters. */
function collect(chain: Chain, answers: readonly { readonly logs: readonly Log[] }[]): Map<string, Log> {
  const found = new Map<string, Log>();
  for (const { logs } of answers)
    for (const log of logs) {
      const place = `${log.blockNumber}.${log.transactionIndex}.${log.logIndex}`;
      const known = found.get(place);
      if (known === undefined || known.blockTimestamp === null) found.set(place, log);
      if (known !== undefined && (known.blockHash !== log.blockHash || known.transactionHash !== log.transactionHash))
        throw new ChainMovedError({
          chain: chain.key,
          what: `two answers differ in a log of block ${log.blockNumber}`,
        });
    }
  return found;
}

/** What has to be read of single blocks as well, unless a filter gives all of it anyway. */
function besideOf(
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

/** True when a filter gives all that the other one would. */
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
