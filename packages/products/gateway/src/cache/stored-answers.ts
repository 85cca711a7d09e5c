import { hash } from 'node:crypto';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import type { AnswerAddress, AnswerStore, StoredAnswer } from './answer-store.ts';

export type StoredAnswers = ReturnType<typeof createStoredAnswers>;

interface Read extends AnswerAddress {
  readonly resolve: (result: Buffer | undefined) => void;
}

const READ_BATCH = 256;
const READS_AT_ONCE = 2;
const WAITING_MAX = 1_024;
const REST_MS = 5_000;
const WRITE_DELAY_MS = 200;
const WRITE_BATCH = 256;
/** Responses above that are dropped. */
const UNWRITTEN_MAX = 8 * 1024 * 1024;
const PRUNE_EVERY_MS = 10 * 60 * 1000;
const PRUNE_PAUSE_MS = 100;
const LOG_EVERY_MS = 60_000;
const LATE: unique symbol = Symbol('late');

/** Prunes in the background until closed. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: reads, writes and pruning share what is pending.
export function createStoredAnswers(options: {
  readonly store: AnswerStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds until the upstream is called instead. @default 250 */
  readonly readTimeoutMs?: number;
}) {
  const { store, clock, logger, readTimeoutMs = 250 } = options;
  const closing = new AbortController();
  const waiting: Read[] = [];
  let unwritten: StoredAnswer[] = [];
  let unwrittenBytes = 0;
  let reading = 0;
  let writing: Promise<void> | null = null;
  let restsUntil = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function failed(action: string, error: unknown): void {
    restsUntil = clock.now() + REST_MS;
    if (clock.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = clock.now();
    logger.warn({ action, error: errorText(error) }, 'Stored answers not reachable: answering without them');
  }

  async function readBatch(batch: readonly Read[]): Promise<void> {
    const timer = new AbortController();
    try {
      const late = sleepUnlessAborted(clock, readTimeoutMs, timer.signal).then((): typeof LATE => LATE);
      const found = await Promise.race([store.read(batch), late]);
      if (found === LATE) failed('read', `no answer within ${readTimeoutMs} ms`);
      for (const [place, { resolve }] of batch.entries())
        resolve(found === LATE ? undefined : (found[place] ?? undefined));
    } catch (error) {
      failed('read', error);
      for (const { resolve } of batch) resolve(undefined);
    } finally {
      timer.abort();
    }
  }

  async function readWaiting(): Promise<void> {
    reading++;
    await Promise.resolve();
    for (let batch = waiting.splice(0, READ_BATCH); batch.length > 0; batch = waiting.splice(0, READ_BATCH))
      await readBatch(batch);
    reading--;
  }

  async function writeLater(): Promise<void> {
    await sleepUnlessAborted(clock, WRITE_DELAY_MS, closing.signal);
    while (unwritten.length > 0) {
      const batch = unwritten.slice(0, WRITE_BATCH);
      unwritten = unwritten.slice(WRITE_BATCH);
      unwrittenBytes -= batch.reduce((sum, { result }) => sum + result.length, 0);
      try {
        await store.write(batch);
      } catch (error) {
        failed('write', error);
      }
    }
    writing = null;
  }

  async function pruneNowAndThen(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleepUnlessAborted(clock, PRUNE_EVERY_MS * (0.5 + Math.random()), closing.signal);
      if (closing.signal.aborted) return;
      try {
        await store.prune(() => clock.sleep(PRUNE_PAUSE_MS, closing.signal));
      } catch (error) {
        if (!closing.signal.aborted) failed('prune', error);
      }
    }
  }
  const pruning = pruneNowAndThen();

  return {
    /** Undefined if the store is skipped now. Never rejects. */
    find(chainId: number, key: string): Promise<Buffer | undefined> | undefined {
      if (waiting.length >= WAITING_MAX || clock.now() < restsUntil || closing.signal.aborted) return undefined;
      const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
      waiting.push({ chainId, callHash: hashOf(key), resolve });
      if (reading < READS_AT_ONCE) void readWaiting();
      return promise;
    },
    keep(chainId: number, key: string, result: Buffer): void {
      if (unwrittenBytes + result.length > UNWRITTEN_MAX || clock.now() < restsUntil || closing.signal.aborted)
        return;
      unwritten.push({ chainId, callHash: hashOf(key), result });
      unwrittenBytes += result.length;
      writing ??= writeLater();
    },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([writing, pruning]);
    },
  };
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
