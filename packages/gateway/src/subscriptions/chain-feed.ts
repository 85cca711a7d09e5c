import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Head, RequestAbortedError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import { Branch } from './branch.ts';
import type { FeedBlock } from './feed-block.ts';
import { createFeedReader } from './feed-reader.ts';

/** Who wants to know how a chain grows and changes its mind. Neither method may throw. */
export interface FeedListener {
  /** Whether blocks must come with their logs. */
  readonly wantsLogs: boolean;
  /** The branch has a new tip. */
  added(block: FeedBlock): void;
  /** The tip was abandoned. Its logs are null where nobody had wanted them. */
  removed(block: FeedBlock): void;
}

/** The blocks of one chain in order, without a gap, read once for all listeners. Nothing is read while there are none. */
export interface ChainFeed {
  /**
   * Tells the listener of every block from now on. When this resolves the newest block is known, and what comes after it
   * will be told. @returns what ends it @throws UpstreamsExhaustedError while no head is known
   */
  watch(listener: FeedListener): Promise<() => void>;
  /** The branch as it was told, oldest block first; empty without listeners. */
  readonly blocks: readonly FeedBlock[];
  /** Resolves once the newest block that any answer has told of is told here, too, or after some seconds. */
  catchUp(): Promise<void>;
  /** A block that was told and then abandoned; null where it is not remembered. */
  abandoned(hash: string): FeedBlock | null;
  close(): void;
}

export interface ChainFeedOptions {
  readonly chain: GatewayChain;
  readonly floor: HeadFloor;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Blocks below the first one, so that a reorganisation right after it finds its fork. */
const ANCESTORS = 16;
/** Blocks that are kept to find forks, at most. */
const KEPT_MAX = 256;
const KEPT_LOG_BYTES_MAX = 67_108_864;
/** Abandoned blocks that are remembered. */
const ABANDONED_MAX = 128;
/** How far the branch grows at once when the head is far ahead. Blocks. */
const STRIDE = 32;
/** Blocks whose logs are read at once. */
const LOGS_AT_ONCE = 8;
const RETRY_MS = 250;
/** How long those who poll wait for blocks that are being read. */
const CATCH_UP_MS = 5_000;
/** Failures in a row after which it is said aloud. */
const FAILURES_TOLD = 8;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the feed of a chain is one state: who listens, what was told, what was removed.
export function createChainFeed({ chain: offered, floor, logger, clock }: ChainFeedOptions): ChainFeed {
  const { pool, chain, slug } = offered;
  const reader = createFeedReader({ pool, slug, logger });
  const kept = Math.min(Math.max(chain.reorgDepthMax, ANCESTORS), KEPT_MAX) + 1;
  const branch = new Branch(kept, KEPT_LOG_BYTES_MAX);
  const listeners = new Set<FeedListener>();
  const abandoned = new Map<string, FeedBlock>();
  /** Whom to tell when the branch has moved, or can't. */
  const waiting = new Set<() => void>();
  /** Listeners, and those who are about to be. */
  let users = 0;
  let running: { readonly ending: AbortController; readonly started: Promise<void> } | null = null;
  let target: Head | null = null;
  let wake = (): void => undefined;

  /** The newest block and some before it. */
  async function begin(signal: AbortSignal): Promise<void> {
    await floor.read();
    const head = floor.newest;
    if (head === null) throw new RequestAbortedError('eth_blockNumber');
    // What was told before may be older.
    target = head;
    const found = await reader.branchTo(head.hash, Math.min(ANCESTORS, kept - 1), signal);
    signal.throwIfAborted();
    branch.clear();
    for (const block of found) branch.push(block);
  }

  async function addLogs(block: FeedBlock, signal: AbortSignal): Promise<void> {
    if (block.logs !== null || ![...listeners].some(({ wantsLogs }) => wantsLogs)) return;
    await reader.addLogs(block, signal);
  }

  /** The logs of blocks that were told before somebody wanted logs, since they may be abandoned yet. */
  async function tryEarlierLogs({ signal }: AbortController): Promise<void> {
    try {
      await reader.addLogsOfAll(
        branch.blocks.slice(-ANCESTORS - 1).filter(({ logs }) => logs === null),
        signal,
      );
    } catch (error) {
      logger.debug({ chain: slug, error: errorText(error) }, 'Logs of the newest blocks not read');
    }
  }

  async function grow(blocks: readonly FeedBlock[], signal: AbortSignal): Promise<void> {
    for (let first = 0; first < blocks.length; first += LOGS_AT_ONCE) {
      const some = blocks.slice(first, first + LOGS_AT_ONCE);
      await Promise.all(some.map((block) => addLogs(block, signal)));
      for (const block of some) {
        // A listener who came meanwhile may be the first to want logs.
        await addLogs(block, signal);
        if (signal.aborted) return;
        branch.push(block);
        for (const listener of [...listeners]) listener.added(block);
      }
    }
  }

  /** Goes towards a head: what is abandoned is told first, newest block first, then the new blocks in order. */
  async function step(head: Head, tip: FeedBlock, signal: AbortSignal): Promise<void> {
    const isFar = head.number - tip.number > STRIDE;
    const goal = await reader.blockAt(isFar ? tip.number + STRIDE : head.hash, signal);
    const between = await reader.headersBetween(tip.number + 1, goal.number - 1, signal);
    const path = await branch.pathTo(
      goal,
      async ({ parentHash }) => between.get(parentHash) ?? (await reader.blockAt(parentHash, signal)),
    );
    if (path.removed.length === branch.blocks.length)
      logger.warn({ chain: slug, blocks: path.removed.length }, 'Reorganisation deeper than the blocks that are kept');
    for (const block of path.removed) {
      if (signal.aborted) return;
      branch.pop();
      rememberAbandoned(block);
      for (const listener of [...listeners]) listener.removed(block);
    }
    await grow(path.added, signal);
  }

  function rememberAbandoned(block: FeedBlock): void {
    abandoned.set(block.hash, block);
    const [oldest] = abandoned.keys();
    if (abandoned.size > ABANDONED_MAX && oldest !== undefined) abandoned.delete(oldest);
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const { tip } = branch;
      const head = target;
      if (tip === null || head === null || head.hash === tip.hash) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      try {
        await step(head, tip, signal);
        failures = 0;
        wakeWaiting();
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const facts = { chain: slug, block_number: head.number, error: errorText(error) };
        if (failures === FAILURES_TOLD) logger.warn(facts, 'Subscriptions wait for a block that can’t be read');
        else logger.debug(facts, 'Block for subscriptions not read');
        await sleepUnlessAborted(clock, RETRY_MS, signal);
      }
    }
  }

  function wakeWaiting(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  function start(): NonNullable<typeof running> {
    const ending = new AbortController();
    const { signal } = ending;
    target = null;
    const unwatch = floor.watch((head) => {
      target = head;
      wake();
    });
    signal.addEventListener('abort', () => {
      unwatch();
      wake();
    });
    const started = begin(signal).then(() => void run(signal));
    return { ending, started };
  }

  function leave(): void {
    users -= 1;
    if (users === 0) stop();
  }

  function stop(): void {
    running?.ending.abort();
    running = null;
    branch.clear();
    abandoned.clear();
    wakeWaiting();
  }

  return {
    async watch(listener) {
      users += 1;
      running ??= start();
      const { started, ending } = running;
      try {
        await started;
        if (listener.wantsLogs) await tryEarlierLogs(ending);
      } catch (error) {
        leave();
        throw error;
      }
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener)) leave();
      };
    },
    get blocks() {
      return branch.blocks;
    },
    async catchUp() {
      await floor.refresh();
      const until = clock.now() + CATCH_UP_MS;
      while (running !== null && isBehind(floor.newest, branch.tip) && clock.now() < until) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        const late = setTimeout(resolve, until - clock.now());
        await promise;
        clearTimeout(late);
      }
    },
    abandoned: (hash) => abandoned.get(hash) ?? null,
    close() {
      listeners.clear();
      stop();
    },
  };
}

function isBehind(newest: Head | null, tip: FeedBlock | null): boolean {
  return newest !== null && (tip === null || (tip.hash !== newest.hash && tip.number <= newest.number));
}
