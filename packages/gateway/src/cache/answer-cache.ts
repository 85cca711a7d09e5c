import { LRUCache } from 'lru-cache';
import type { StoredAnswers } from './stored-answers.ts';

/**
 * Answers by call. Keys are calls in canonical form with the chain before them; results are JSON text. What may be kept and
 * how long is the caller's matter (answering/).
 */
export interface AnswerCache {
  /** From memory, at once. @param generation the chain's now: what was kept until the next head is gone when it is another one */
  get(key: string, generation: number): Buffer | undefined;
  /** From what processes share, where it is to be asked now. Never rejects. */
  find(chainId: number, key: string): Promise<Buffer | undefined> | undefined;
  /** Keeps an answer that can't change any more. */
  keepForGood(chainId: number, key: string, result: Buffer): void;
  /** Keeps an answer while the chain's generation stays; so many milliseconds at most, where given. */
  keepUntilNextHead(key: string, result: Buffer, generation: number, forMs?: number): void;
  /** Bytes held in memory. */
  readonly bytes: number;
}

/** What the memory tier is made of. */
export interface AnswerCacheOptions {
  /** Bytes of memory. @default 64 MiB */
  readonly bytesMax?: number;
  /** What processes share; absent: memory only. */
  readonly stored?: StoredAnswers;
  readonly clock: { now(): number };
}

/** Larger results are not kept, bytes. */
export const CACHED_RESULT_MAX = 1024 * 1024;

interface Entry {
  readonly result: Buffer;
  /** Null: for good. */
  readonly generation: number | null;
  readonly until: number;
}

const DEFAULT_BYTES_MAX = 64 * 1024 * 1024;
/** What an entry takes beside its text, bytes; measured with a million small ones. */
const ENTRY_BYTES = 400;

export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const { stored, clock } = options;
  const memory = new LRUCache<string, Entry>({
    maxSize: options.bytesMax ?? DEFAULT_BYTES_MAX,
    sizeCalculation: ({ result }, key) => result.length + key.length + ENTRY_BYTES,
  });

  function remember(key: string, result: Buffer, generation: number | null, until: number): void {
    memory.set(key, { result: ownBytes(result), generation, until });
  }

  return {
    get(key, generation) {
      const entry = memory.get(key);
      if (entry === undefined || entry.generation === null) return entry?.result;
      if (entry.generation === generation && (entry.until === Number.POSITIVE_INFINITY || clock.now() < entry.until))
        return entry.result;
      memory.delete(key);
      return undefined;
    },
    find(chainId, key) {
      return stored?.find(chainId, key)?.then((result) => {
        if (result !== undefined) remember(key, result, null, Number.POSITIVE_INFINITY);
        return result;
      });
    },
    keepForGood(chainId, key, result) {
      if (result.length > CACHED_RESULT_MAX) return;
      remember(key, result, null, Number.POSITIVE_INFINITY);
      stored?.keep(chainId, key, result);
    },
    keepUntilNextHead(key, result, generation, forMs) {
      if (result.length > CACHED_RESULT_MAX) return;
      remember(key, result, generation, forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + forMs);
    },
    get bytes() {
      return memory.calculatedSize;
    },
  };
}

/** A piece of a socket's buffer would hold all of it. */
function ownBytes(result: Buffer): Buffer {
  if (result.buffer.byteLength === result.length) return result;
  const own = Buffer.allocUnsafeSlow(result.length);
  result.copy(own);
  return own;
}
