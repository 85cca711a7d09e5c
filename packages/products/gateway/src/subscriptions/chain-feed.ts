import { type Clock, errorText, type Hash, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Head, RequestAbortedError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import { bytesOfLogs, type FeedBlock } from './feed-block.ts';
import { createFeedReader } from './feed-reader.ts';

/** Blocks and reorgs of a chain. Neither method may throw. */
export interface FeedListener {
  readonly wantsLogs: boolean;
  added(block: FeedBlock): void;
  /** The tip, abandoned. No logs if no listener wanted them. */
  removed(block: FeedBlock): void;
}

/** Blocks in order, without gaps, read once for all listeners, and not without listeners. */
export interface ChainFeed {
  /** Resolves once the newest block is known. @returns stops it @throws UpstreamsExhaustedError */
  watch(listener: FeedListener): Promise<() => void>;
  /** Oldest first; empty without listeners. */
  readonly blocks: readonly FeedBlock[];
  /** The newest block of any response was reported here too, or a few seconds passed. */
  catchUp(): Promise<void>;
  abandoned(hash: string): FeedBlock | null;
  close(): void;
}

/** Lasts from the first listener until the last one leaves. */
interface Run {
  readonly ending: AbortController;
  readonly started: Promise<void>;
  /** Reads missing logs of earlier blocks. Calls share a read: such logs fill a lot of memory. */
  earlierLogs(): Promise<void>;
}

interface ChainFeedOptions {
  readonly chain: GatewayChain;
  readonly floor: HeadFloor;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Below the first block, so that an early reorg finds its fork. */
const ANCESTORS = 16;
const KEPT_MAX = 256;
const KEPT_LOG_BYTES_MAX = 67_108_864;
const ABANDONED_MAX = 128;
const STRIDE = 32;
const LOGS_AT_ONCE = 8;
const RETRY_MS = 250;
const CATCH_UP_MS = 5_000;
const FAILURES_REPORTED = 8;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the feed of a chain is one state: listeners, sent blocks, removed blocks.
export function createChainFeed({ chain: offered, floor, logger, clock }: ChainFeedOptions): ChainFeed {
  const { pool, chain, slug } = offered;
  const reader = createFeedReader({ pool, slug, logger });
  const kept = Math.min(Math.max(chain.reorgDepthMax, ANCESTORS), KEPT_MAX) + 1;
  const branch = new Branch(kept, KEPT_LOG_BYTES_MAX);
  const listeners = new Set<FeedListener>();
  const abandoned = new Map<string, FeedBlock>();
  const waiting = new Set<() => void>();
  let users = 0;
  let logUsers = 0;
  let running: Run | null = null;
  let target: Head | null = null;
  let wake = (): void => undefined;

  async function begin(signal: AbortSignal): Promise<void> {
    await floor.read();
    const head = floor.newest;
    if (head === null) throw new RequestAbortedError('eth_blockNumber');
    target = head;
    const blocks = await reader.branchTo(head.hash, Math.min(ANCESTORS, kept - 1), signal);
    signal.throwIfAborted();
    branch.clear();
    for (const block of blocks) branch.push(block);
  }

  async function addLogs(block: FeedBlock, signal: AbortSignal): Promise<void> {
    if (block.logs === null && logUsers > 0) await reader.addLogs(block, signal);
  }

  /** Blocks from before a listener wanted logs may still be abandoned. */
  async function tryEarlierLogs(signal: AbortSignal): Promise<void> {
    const bare = branch.blocks.slice(-ANCESTORS - 1).filter(({ logs }) => logs === null);
    try {
      await reader.addLogsOfAll(bare, signal);
    } catch (error) {
      logger.debug({ chain: slug, error: errorText(error) }, 'Logs of the newest blocks not read');
    }
  }

  async function grow(blocks: readonly FeedBlock[], signal: AbortSignal): Promise<void> {
    for (let first = 0; first < blocks.length; first += LOGS_AT_ONCE) {
      const some = blocks.slice(first, first + LOGS_AT_ONCE);
      await Promise.all(some.map((block) => addLogs(block, signal)));
      for (const block of some) {
        await addLogs(block, signal);
        if (signal.aborted) return;
        branch.push(block);
        for (const listener of [...listeners]) listener.added(block);
      }
    }
  }

  /** Reports abandoned blocks first, newest first, then new ones in order. */
  async function step(head: Head, tip: FeedBlock, signal: AbortSignal): Promise<void> {
    const isFar = head.number - tip.number > STRIDE;
    const goal = await reader.blockAt(isFar ? tip.number + STRIDE : head.hash, signal);
    const between = await reader.headersBetween(tip.number + 1, goal.number - 1, signal);
    const path = await branch.pathTo(
      goal,
      async ({ parentHash }) => between.get(parentHash) ?? (await reader.blockAt(parentHash, signal)),
    );
    if (path.removed.length === branch.blocks.length)
      logger.warn(
        { chain: slug, blocks: path.removed.length },
        'Reorganisation deeper than the blocks that are kept',
      );
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
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
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
        if (failures === FAILURES_REPORTED)
          logger.warn(facts, 'Subscriptions wait for a block that can’t be read');
        else logger.debug(facts, 'Block for subscriptions not read');
        await sleepUnlessAborted(clock, RETRY_MS, signal);
      }
    }
  }

  function wakeWaiting(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  function start(): Run {
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
    let reading: Promise<void> | null = null;
    const earlierLogs = (): Promise<void> => {
      reading ??= tryEarlierLogs(signal).finally(() => {
        reading = null;
      });
      return reading;
    };
    return { ending, started, earlierLogs };
  }

  function enter({ wantsLogs }: FeedListener): Run {
    users += 1;
    if (wantsLogs) logUsers += 1;
    running ??= start();
    return running;
  }

  function leave({ wantsLogs }: FeedListener): void {
    users -= 1;
    if (wantsLogs) logUsers -= 1;
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
      const { started, earlierLogs } = enter(listener);
      try {
        await started;
        if (listener.wantsLogs) await earlierLogs();
      } catch (error) {
        leave(listener);
        throw error;
      }
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener)) leave(listener);
      };
    },
    get blocks() {
      return branch.blocks;
    },
    async catchUp() {
      await floor.refresh();
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        wakeWaiting();
      }, CATCH_UP_MS);
      const isBehind = (): boolean => {
        const { newest } = floor;
        const { tip } = branch;
        return newest !== null && (tip === null || (tip.hash !== newest.hash && tip.number <= newest.number));
      };
      while (running !== null && isBehind() && !isLate)
        await new Promise<void>((resolve) => waiting.add(resolve));
      clearTimeout(timer);
    },
    abandoned: (hash) => abandoned.get(hash) ?? null,
    close() {
      listeners.clear();
      stop();
    },
  };
}

interface BranchPath {
  /** Newest first. */
  readonly removed: readonly FeedBlock[];
  /** Oldest first. */
  readonly added: readonly FeedBlock[];
}

export class Branch {
  readonly #blocks: FeedBlock[] = [];
  readonly #blocksMax: number;
  readonly #logBytesMax: number;

  /** @param logBytesMax older blocks drop their logs */
  constructor(blocksMax: number, logBytesMax: number) {
    this.#blocksMax = blocksMax;
    this.#logBytesMax = logBytesMax;
  }

  get tip(): FeedBlock | null {
    return this.#blocks.at(-1) ?? null;
  }

  get oldest(): FeedBlock | null {
    return this.#blocks[0] ?? null;
  }

  get blocks(): readonly FeedBlock[] {
    return this.#blocks;
  }

  push(block: FeedBlock): void {
    this.#blocks.push(block);
    if (this.#blocks.length > this.#blocksMax) this.#blocks.shift();
    this.#forgetOldLogs();
  }

  pop(): void {
    this.#blocks.pop();
  }

  clear(): void {
    this.#blocks.length = 0;
  }

  async pathTo(block: FeedBlock, parentOf: (child: FeedBlock) => Promise<FeedBlock>): Promise<BranchPath> {
    const added: FeedBlock[] = [];
    const lowest = this.oldest?.number ?? block.number;
    let next = block;
    for (;;) {
      const fork = this.#indexOf(next.hash);
      if (fork !== -1) return { removed: this.#above(fork), added };
      const isBelow = next.number < lowest;
      if (!isBelow || added.length === 0) added.unshift(next);
      const parent = this.#indexOf(next.parentHash);
      if (parent !== -1 || next.number <= lowest) return { removed: this.#above(parent), added };
      next = await parentOf(next);
    }
  }

  #indexOf(hash: Hash): number {
    return this.#blocks.findLastIndex((block) => block.hash === hash);
  }

  #above(index: number): readonly FeedBlock[] {
    return this.#blocks.slice(index + 1).toReversed();
  }

  #forgetOldLogs(): void {
    let bytes = 0;
    for (const block of this.#blocks.toReversed()) {
      if (block.logs === null) continue;
      bytes += bytesOfLogs(block.logs);
      if (bytes > this.#logBytesMax && block !== this.tip) block.logs = null;
    }
  }
}
