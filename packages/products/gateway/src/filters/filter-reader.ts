import { errorText, type Log, type Logger } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { ChainFeed } from '../subscriptions/chain-feed.ts';
import { type FeedBlock, FeedLog, toFeedBlock } from '../subscriptions/feed-block.ts';
import { type LogCriteria, matchesCriteria } from '../subscriptions/log-criteria.ts';
import { readBlockLogs } from '../subscriptions/read-block-logs.ts';
import type { ReportedBlock } from './filter-store.ts';

export type FilterReader = ReturnType<typeof createFilterReader>;

export class BranchChangedError extends Error {
  constructor() {
    super('The chain changed while it was read for a filter');
    this.name = 'BranchChangedError';
  }
}

/** From the feed if it has the blocks, otherwise from upstreams, whose errors it throws. */
export function createFilterReader(
  { chain, pool }: Pick<GatewayChain, 'chain' | 'pool'>,
  { feed, logger, signal }: { readonly feed: ChainFeed; readonly logger: Logger; readonly signal: AbortSignal },
) {
  async function abandonedLogs([number, hash]: ReportedBlock): Promise<readonly FeedLog[]> {
    const remembered = feed.abandoned(hash);
    if (remembered?.logs != null) return remembered.logs;
    try {
      const block = { number, hash: hash as FeedBlock['hash'], logsBloom: null };
      const logs = await readBlockLogs(pool, block, { signal, logger });
      return (logs ?? []).map((log) => new FeedLog(log, log.blockTimestamp ?? 0));
    } catch (error) {
      logger.debug(
        { chain: chain.key, block_number: number, error: errorText(error) },
        'Abandoned block not known',
      );
      return [];
    }
  }

  return {
    async blocksSince(reported: readonly ReportedBlock[]): Promise<readonly FeedBlock[]> {
      const blocks = [...feed.blocks];
      const [oldest, lowest, last] = [blocks[0], reported[0], reported.at(-1)];
      if (oldest === undefined || lowest === undefined || last === undefined) return blocks;
      // The feed has a reported block, or begins no higher than the oldest.
      const isJoined =
        lowest[0] >= oldest.number || reported.some(([, hash]) => blocks.some((block) => block.hash === hash));
      if (isJoined) return blocks;
      const numbers = Array.from({ length: oldest.number - lowest[0] }, (_, index) => lowest[0] + index);
      const headers = await pool.getHeaders(numbers, { signal });
      const all = [...headers.map(({ value }) => toFeedBlock(value)), ...blocks];
      if (all.some(({ parentHash }, index) => index > 0 && parentHash !== all[index - 1]?.hash))
        throw new BranchChangedError();
      return all;
    },
    async addedLogs(
      blocks: readonly FeedBlock[],
      criteria: LogCriteria,
    ): Promise<readonly (readonly string[])[]> {
      const bare = blocks.filter(({ logs }) => logs === null);
      const read = await logsOfBare(bare);
      return blocks.map(({ hash, timestamp, logs }) =>
        (logs ?? (read.get(hash) ?? []).map((log) => new FeedLog(log, timestamp)))
          .filter(({ log }) => matchesCriteria(criteria, log))
          .map(({ text }) => String(text)),
      );

      async function logsOfBare(missing: readonly FeedBlock[]): Promise<ReadonlyMap<string, readonly Log[]>> {
        const [first, last] = [missing[0], missing.at(-1)];
        if (first === undefined || last === undefined) return new Map();
        const range = { from: first.number, to: last.number };
        const { logs } = await pool.getLogs({ range, ...queryOf(criteria) }, { signal });
        const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
        if (logs.some(({ blockNumber, blockHash }) => hashes.get(blockNumber) !== blockHash))
          throw new BranchChangedError();
        return Map.groupBy(logs, ({ blockHash }) => blockHash);
      }
    },
    /** Matching logs of abandoned blocks, in order of revocation. Leaves out unavailable ones. */
    async removedLogs(blocks: readonly ReportedBlock[], criteria: LogCriteria): Promise<readonly string[]> {
      const logs = await Array.fromAsync(blocks, async (block) => (await abandonedLogs(block)).toReversed());
      return logs
        .flat()
        .flatMap(({ log, removedText }) => (matchesCriteria(criteria, log) ? [String(removedText)] : []));
    },
  };
}

function queryOf({ addresses, topics: [first = null, ...indexed] }: LogCriteria): Omit<LogsQuery, 'range'> {
  const listed = (values: ReadonlySet<string> | null) =>
    values === null ? null : ([...values] as Log['topics'][number][]);
  return {
    topics: listed(first) ?? [],
    ...(indexed.length > 0 && { indexed: indexed.map(listed) }),
    ...(addresses !== null && { addresses: [...addresses] }),
  };
}
