import { LRUCache } from 'lru-cache';
import type { StoredAnswers } from './stored-answers.ts';

/** Keys are the chain and the call in canonical form; results are JSON text. */
export interface AnswerCache {
  /** Synchronous. Responses cached until the next head are dropped if the chain's generation changed. */
  get(key: string, generation: number): Buffer | undefined;
  /** Reads from the shared store, unless it is skipped now. Never rejects. */
  find(chainId: number, key: string): Promise<Buffer | undefined> | undefined;
  keepForGood(chainId: number, key: string, result: Buffer): void;
  /** Caches a response while the chain's generation stays the same, at most for `forMs` milliseconds if given. */
  keepUntilNextHead(key: string, result: Buffer, generation: number, forMs?: number): void;
  readonly bytes: number;
}

export interface AnswerCacheOptions {
  /** Bytes of memory. @default 64 MiB */
  readonly bytesMax?: number;
  readonly stored?: StoredAnswers;
  readonly clock: { now(): number };
}

/** Larger results are not cached, bytes. */
export const CACHED_RESULT_MAX = 1024 * 1024;

interface Entry {
  readonly result: Buffer;
  /** Null: permanent. */
  readonly generation: number | null;
  readonly until: number;
}

/** Overhead of an entry in addition to its text, bytes; measured with a million small entries. */
const ENTRY_BYTES = 400;

export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const { stored, clock, bytesMax = 64 * 1024 * 1024 } = options;
  const memory = new LRUCache<string, Entry>({
    maxSize: bytesMax,
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

/** Copies the bytes: a slice would keep the whole socket buffer in memory. */
function ownBytes(result: Buffer): Buffer {
  if (result.buffer.byteLength === result.length) return result;
  const own = Buffer.allocUnsafeSlow(result.length);
  result.copy(own);
  return own;
}
