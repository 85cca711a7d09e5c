import { errorText, getOrCompute, type Log, type Logger } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import { shareRuns } from '../heads/head-store.ts';
import type { ChainFeed } from '../subscriptions/chain-feed.ts';
import { type FeedBlock, FeedLog, toFeedBlock } from '../subscriptions/feed-block.ts';
import { readBlockLogs } from '../subscriptions/feed-reader.ts';
import { type LogCriteria, matchesCriteria, readLogCriteria } from '../subscriptions/log-criteria.ts';
import type { ChainFeeds } from '../subscriptions/pending-feed.ts';
import { type FilterStore, pollPendingFilter, type ReportedBlock, type StoredFilter } from './filter-store.ts';

interface FilterPolls {
  hold(chain: GatewayChain, options: { readonly wantsLogs: boolean }): Promise<void>;
  /** Blocks known to a client that creates a filter: it may have read the newest one upstream. */
  knownBlocks(chain: GatewayChain): Promise<readonly ReportedBlock[]>;
  /** JSON text; null if the poll must be repeated. */
  poll(chain: GatewayChain, filter: StoredFilter): Promise<string | null>;
  close(): void;
}

const BLOCKS_AT_ONCE = 200;

export function createFilterPolls(options: {
  readonly store: FilterStore;
  readonly feeds: ChainFeeds;
  readonly logger: Logger;
  /** Per poll; one block may exceed it. @default 16,000,000 */
  readonly charactersAtOnce?: number | undefined;
}): FilterPolls {
  const { store, feeds, logger, charactersAtOnce = 16_000_000 } = options;
  const leases = new Map<string, FeedLease>();
  const closing = new AbortController();

  function hold(chain: GatewayChain, { wantsLogs }: { readonly wantsLogs: boolean }): Promise<void> {
    const listener = { wantsLogs, added: () => undefined, removed: () => undefined };
    const lease = getOrCompute(leases, `${chain.slug}/${wantsLogs}`, () =>
      createFeedLease(() => feeds.of(chain).blocks.watch(listener)),
    );
    return lease.hold();
  }

  async function pollBlocks(chain: GatewayChain, filter: StoredFilter): Promise<string | null> {
    await hold(chain, { wantsLogs: filter.kind === 'logs' });
    await feeds.of(chain).blocks.catchUp();
    const reader = createFilterReader(chain, { feed: feeds.of(chain).blocks, logger, signal: closing.signal });
    const blocks = await reader.blocksSince(filter.reported);
    const changes = changesSince(filter.reported, blocks, BLOCKS_AT_ONCE);
    if (changes === null || (changes.added.length === 0 && changes.removed.length === 0)) {
      await store.touch(filter.id);
      return '[]';
    }
    const { removed, added } = await textsOf(filter, changes, reader);
    const count = blocksWithin(added, charactersAtOnce);
    const reported = changesSince(filter.reported, blocks, count)?.reported ?? changes.reported;
    if (!(await store.advance(filter, { subject: filter.subject, reported }))) return null;
    return `[${[...removed, ...added.slice(0, count).flat()].join(',')}]`;
  }

  return {
    hold,
    async knownBlocks(chain) {
      const feed = feeds.of(chain).blocks;
      await feed.catchUp();
      return reportedAfter([], feed.blocks);
    },
    async poll(chain, filter) {
      try {
        return await (filter.kind === 'pending'
          ? pollPendingFilter(chain, filter, store)
          : pollBlocks(chain, filter));
      } catch (error) {
        if (error instanceof BranchChangedError) return null;
        throw error;
      }
    },
    close() {
      closing.abort();
      for (const lease of leases.values()) lease.close();
    },
  };
}

interface ChangedTexts {
  readonly removed: readonly string[];
  readonly added: readonly (readonly string[])[];
}

async function textsOf(
  { kind, subject }: StoredFilter,
  { removed, added }: FilterChanges,
  reader: FilterReader,
): Promise<ChangedTexts> {
  if (kind === 'blocks') return { removed: [], added: added.map(({ hash }) => [`"${hash}"`]) };
  const criteria = readLogCriteria(subject);
  if (typeof criteria === 'string') throw new TypeError(`A stored filter can't be read: ${criteria}`);
  return { removed: await reader.removedLogs(removed, criteria), added: await reader.addedLogs(added, criteria) };
}

type FeedLease = ReturnType<typeof createFeedLease>;

const IDLE_MS = 60_000;

/** Keeps a feed running while clients poll it. @param watch returns the function that stops it */
function createFeedLease(watch: () => Promise<() => void>) {
  let stop: (() => void) | null = null;
  let idle: NodeJS.Timeout | null = null;

  function end(): void {
    if (idle !== null) clearTimeout(idle);
    idle = null;
    stop?.();
    stop = null;
  }

  const begin = shareRuns(async () => {
    stop ??= await watch();
  });

  return {
    /** @throws as the feed's `watch` */
    async hold(): Promise<void> {
      if (stop === null) await begin();
      if (idle === null) idle = setTimeout(end, IDLE_MS).unref();
      else idle.refresh();
    },
    close: end,
  };
}

interface FilterChanges {
  readonly removed: readonly ReportedBlock[];
  readonly added: readonly FeedBlock[];
  readonly reported: readonly ReportedBlock[];
}

/** To find where a reorg began. */
const REPORTED_MAX = 64;

/**
 * @param blocks consecutive, from the client's newest canonical block or below
 * @returns null if this process lags behind the client
 */
function changesSince(
  reported: readonly ReportedBlock[],
  blocks: readonly FeedBlock[],
  blocksMax: number,
): FilterChanges | null {
  const [tip, last] = [blocks.at(-1), reported.at(-1)];
  if (tip === undefined || last === undefined || tip.number < last[0]) return null;
  const hashes = new Set<string>(blocks.map(({ hash }) => hash));
  const fork = reported.findLastIndex(([, hash]) => hashes.has(hash));
  const removed = reported.slice(fork + 1).toReversed();
  const from = reported[fork]?.[0] ?? (reported[0]?.[0] ?? 0) - 1;
  const added = blocks.filter(({ number }) => number > from).slice(0, blocksMax);
  return { removed, added, reported: reportedAfter(reported.slice(0, fork + 1), added) };
}

function reportedAfter(
  reported: readonly ReportedBlock[],
  added: readonly FeedBlock[],
): readonly ReportedBlock[] {
  return [...reported, ...added.map(({ number, hash }): ReportedBlock => [number, hash])].slice(-REPORTED_MAX);
}

function blocksWithin(texts: readonly (readonly string[])[], charactersMax: number): number {
  let characters = 0;
  const end = texts.findIndex((ofBlock, index) => {
    for (const text of ofBlock) characters += text.length;
    return index > 0 && characters > charactersMax;
  });
  return end === -1 ? texts.length : end;
}

type FilterReader = ReturnType<typeof createFilterReader>;

class BranchChangedError extends Error {
  constructor() {
    super('The chain changed while it was read for a filter');
    this.name = 'BranchChangedError';
  }
}

/** From the feed if it has the blocks, otherwise from upstreams, whose errors it throws. */
function createFilterReader(
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
