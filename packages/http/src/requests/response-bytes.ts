import { AsyncLocalStorage } from 'node:async_hooks';
import { RESULT_BYTES_MAX } from '@chainstead/db';
import { ResponseTooLargeError, TooManyResponsesError } from '../errors/api-error.ts';
import type { ByteBudget } from './byte-budget.ts';

/** Limits the bytes that requests read from the database, while they are received. */
export interface ResponseBytes {
  /**
   * Runs a request. What it reads counts towards the budget until `release` is called.
   * @param keyId returns the key of the request
   */
  run(keyId: () => string, work: () => Promise<void>): { readonly done: Promise<void>; release(): void };
  /**
   * Runs a part of the request that can be repeated with fewer rows. If it fails, what it read no longer counts, and
   * its running statements are refused.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For `Database.until`: counts the bytes of one statement or transaction of the current request. The function throws
   * {@link ResponseTooLargeError} above {@link RESULT_BYTES_MAX}, or above the share of a key for the whole request,
   * and {@link TooManyResponsesError} while other requests use the budget.
   */
  counting(): (bytes: number) => void;
}

/** A request whose bytes count. */
interface CountedRequest {
  readonly keyId: () => string;
  readonly readings: Set<Reading>;
  isReleased: boolean;
}

/** Bytes that a part of a request has read. */
interface Reading {
  readonly request: CountedRequest;
  /** The key that `taken` was taken for. */
  takenFor: string;
  taken: number;
  isOver: boolean;
}

export function createResponseBytes(budget: ByteBudget): ResponseBytes {
  const readings = new AsyncLocalStorage<Reading>();
  const bytesMax = Math.min(RESULT_BYTES_MAX, budget.keyBytesMax);
  const begin = (request: CountedRequest): Reading => {
    const reading = { request, takenFor: '', taken: 0, isOver: false };
    request.readings.add(reading);
    return reading;
  };
  const end = (reading: Reading): void => {
    reading.isOver = true;
    reading.request.readings.delete(reading);
    budget.give(reading.takenFor, reading.taken);
    reading.taken = 0;
  };
  const take = (reading: Reading, bytes: number): void => {
    // The server's response to a cancel request still comes.
    if (reading.request.isReleased) return;
    if (reading.isOver) throw new ResponseTooLargeError(bytesMax);
    const { keyId, readings: parts } = reading.request;
    if (reading.taken === 0) reading.takenFor = keyId();
    if (!budget.take(reading.takenFor, bytes)) {
      const ofRequest = Array.from(parts).reduce((sum, { taken }) => sum + taken, bytes);
      throw ofRequest > budget.keyBytesMax
        ? new ResponseTooLargeError(budget.keyBytesMax)
        : new TooManyResponsesError();
    }
    reading.taken += bytes;
  };
  return {
    run(keyId, work) {
      const request: CountedRequest = { keyId, readings: new Set(), isReleased: false };
      return {
        done: readings.run(begin(request), work),
        release() {
          request.isReleased = true;
          for (const reading of request.readings) end(reading);
        },
      };
    },
    async attempt(work) {
      const outer = readings.getStore();
      if (outer === undefined) return work();
      const own = begin(outer.request);
      try {
        return await readings.run(own, work);
      } catch (error) {
        end(own);
        throw error;
      }
    },
    counting() {
      const reading = readings.getStore();
      let received = 0;
      return (bytes) => {
        if (reading === undefined) return;
        received += bytes;
        if (received > bytesMax) throw new ResponseTooLargeError(bytesMax);
        take(reading, bytes);
      };
    },
  };
}
