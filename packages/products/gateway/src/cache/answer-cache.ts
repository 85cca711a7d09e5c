import { LRUCache } from 'lru-cache';
import type { StoredAnswers } from './stored-answers.ts';

export type AnswerCache = ReturnType<typeof createAnswerCache>;

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

/** Keys are the chain and the call in canonical form; results are JSON text. */
export function createAnswerCache(options: AnswerCacheOptions) {
  const { stored, clock, bytesMax = 64 * 1024 * 1024 } = options;
  const memory = new LRUCache<string, Entry>({
    maxSize: bytesMax,
    sizeCalculation: ({ result }, key) => result.length + key.length + ENTRY_BYTES,
  });

  function remember(key: string, result: Buffer, generation: number | null, until: number): void {
    memory.set(key, { result: ownBytes(result), generation, until });
  }

  return {
    /** Synchronous. Responses cached until the next head are dropped if the chain's generation changed. */
    get(key: string, generation: number): Buffer | undefined {
      const entry = memory.get(key);
      if (entry === undefined || entry.generation === null) return entry?.result;
      if (entry.generation === generation && (entry.until === Number.POSITIVE_INFINITY || clock.now() < entry.until))
        return entry.result;
      memory.delete(key);
      return undefined;
    },
    /** Reads from the shared store, unless it is skipped now. Never rejects. */
    find(chainId: number, key: string): Promise<Buffer | undefined> | undefined {
      return stored?.find(chainId, key)?.then((result) => {
        if (result !== undefined) remember(key, result, null, Number.POSITIVE_INFINITY);
        return result;
      });
    },
    keepForGood(chainId: number, key: string, result: Buffer): void {
      if (result.length > CACHED_RESULT_MAX) return;
      remember(key, result, null, Number.POSITIVE_INFINITY);
      stored?.keep(chainId, key, result);
    },
    /** While the chain's generation stays the same, at most for `forMs` milliseconds if given. */
    keepUntilNextHead(key: string, result: Buffer, generation: number, forMs?: number): void {
      if (result.length > CACHED_RESULT_MAX) return;
      remember(key, result, generation, forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + forMs);
    },
    get bytes(): number {
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
