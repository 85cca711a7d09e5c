import { LRUCache } from 'lru-cache';
import type { StoredAnswers } from './stored-answers.ts';

export type AnswerCache = ReturnType<typeof createAnswerCache>;

export interface AnswerCacheOptions {
  /** @default 64 MiB */
  readonly bytesMax?: number;
  readonly stored?: StoredAnswers;
  readonly clock: { now(): number };
}

export const CACHED_RESULT_MAX = 1024 * 1024;

interface Entry {
  readonly result: Buffer;
  /** Null: permanent. */
  readonly generation: number | null;
  readonly until: number;
}

/** Overhead of an entry, measured with a million small ones. */
const ENTRY_BYTES = 400;

/** Keys: chain and canonical call; results: JSON text. */
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
    /** Drops responses cached until the next head if the chain's generation changed. */
    get(key: string, generation: number): Buffer | undefined {
      const entry = memory.get(key);
      if (entry === undefined || entry.generation === null) return entry?.result;
      if (
        entry.generation === generation &&
        (entry.until === Number.POSITIVE_INFINITY || clock.now() < entry.until)
      )
        return entry.result;
      memory.delete(key);
      return undefined;
    },
    /** Undefined if the shared store is skipped now. Never rejects. */
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
    /** While the generation stays the same, at most `forMs` milliseconds. */
    keepUntilNextHead(key: string, result: Buffer, generation: number, forMs?: number): void {
      if (result.length > CACHED_RESULT_MAX) return;
      remember(key, result, generation, forMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + forMs);
    },
    forget(key: string): void {
      memory.delete(key);
    },
    get bytes(): number {
      return memory.calculatedSize;
    },
  };
}

/** A slice would keep the whole socket buffer in memory. */
function ownBytes(result: Buffer): Buffer {
  if (result.buffer.byteLength === result.length) return result;
  const own = Buffer.allocUnsafeSlow(result.length);
  result.copy(own);
  return own;
}
