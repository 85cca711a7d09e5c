import { AsyncLocalStorage } from 'node:async_hooks';
import { RESULT_BYTES_MAX, ROW_BYTES_MAX } from '@chainstead/db';
import type { MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiEnv } from '../api-context.ts';
import { ResponseTooLargeError, TooManyResponsesError } from '../errors/api-error.ts';
import type { ByteBudget } from './body-bounds.ts';

export interface ResponseBytes {
  /** All reads of the work count towards the budget until `release`. */
  run(keyId: () => string, work: () => Promise<void>): { readonly done: Promise<void>; release(): void };
  /** Can be repeated with fewer rows. If it fails, what it read no longer counts. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /** For `Database.until`. The result @throws ResponseTooLargeError, TooManyResponsesError */
  counting(): (bytes: number) => void;
}

/** With more long readings at once, other requests wait for the processors. */
const PARTS_AT_ONCE = 2;
let partsLeft = PARTS_AT_ONCE;
const waitingParts: (() => void)[] = [];

/** Requests take turns. Bytes stop counting once the part is over, so return few of them. */
export async function readPart<T>(work: () => Promise<T>): Promise<T> {
  if (partsLeft > 0) partsLeft -= 1;
  else await new Promise<void>((resolve) => waitingParts.push(resolve));
  const own = readings.getStore()?.beginPart();
  try {
    return await (own === undefined ? work() : readings.run(own, work));
  } finally {
    own?.end();
    const next = waitingParts.shift();
    if (next === undefined) partsLeft += 1;
    else next();
  }
}

const oneRow = new AsyncLocalStorage<boolean>();

export function forOneRow<T>(work: () => Promise<T>): Promise<T> {
  return oneRow.run(true, work);
}

function resultBytesMax(): number {
  return oneRow.getStore() === true ? ROW_BYTES_MAX : RESULT_BYTES_MAX;
}

interface CountedRequest {
  readonly keyId: () => string;
  readonly readings: Set<Reading>;
  isReleased: boolean;
}

interface Reading {
  readonly request: CountedRequest;
  takenFor: string;
  taken: number;
  isOver: boolean;
  beginPart(): Reading;
  end(): void;
}

const readings = new AsyncLocalStorage<Reading>();

export function createResponseBytes(budget: ByteBudget): ResponseBytes {
  const shareOf = (): number => (oneRow.getStore() === true ? budget.rowBytesMax : budget.keyBytesMax);
  const bytesMaxOf = (): number => Math.min(resultBytesMax(), shareOf());
  const begin = (request: CountedRequest): Reading => {
    const reading: Reading = {
      ...{ request, takenFor: '', taken: 0, isOver: false },
      beginPart: () => begin(request),
      end() {
        reading.isOver = true;
        request.readings.delete(reading);
        budget.give(reading.takenFor, reading.taken);
        reading.taken = 0;
      },
    };
    request.readings.add(reading);
    return reading;
  };
  const take = (reading: Reading, bytes: number, share: number): void => {
    // The server's response to a cancel request still comes.
    if (reading.request.isReleased) return;
    if (reading.isOver) throw new ResponseTooLargeError(RESULT_BYTES_MAX);
    const { keyId, readings: parts } = reading.request;
    if (reading.taken === 0) reading.takenFor = keyId();
    if (!budget.take(reading.takenFor, bytes, share === budget.rowBytesMax)) {
      const ofRequest = Array.from(parts).reduce((sum, { taken }) => sum + taken, bytes);
      throw ofRequest > share ? new ResponseTooLargeError(share) : new TooManyResponsesError();
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
          for (const reading of request.readings) reading.end();
        },
      };
    },
    async attempt(work) {
      const own = readings.getStore()?.beginPart();
      if (own === undefined) return work();
      try {
        return await readings.run(own, work);
      } catch (error) {
        own.end();
        throw error;
      }
    },
    counting() {
      const reading = readings.getStore();
      const [bytesMax, share] = [bytesMaxOf(), shareOf()];
      let received = 0;
      return (bytes) => {
        if (reading === undefined) return;
        received += bytes;
        if (received > bytesMax) throw new ResponseTooLargeError(bytesMax);
        take(reading, bytes, share);
      };
    },
  };
}

export const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** Escapes may multiply the length of stored texts. @throws ResponseTooLargeError */
export function boundedJson(value: unknown): string {
  // One long text may be in many rows: its JSON must not be built to learn its size.
  const [length, bytesMax] = [textLength(value), resultBytesMax()];
  if (length > bytesMax) throw new ResponseTooLargeError(bytesMax, length);
  const text = JSON.stringify(value);
  if (text.length > bytesMax) throw new ResponseTooLargeError(bytesMax, text.length);
  return text;
}

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  // A call for each value would take half as long as its JSON.
  for (const one of Object.values(value))
    if (typeof one === 'string') length += one.length;
    else if (typeof one === 'object') length += textLength(one);
  return length;
}

export function boundedResponses(): MiddlewareHandler<ApiEnv> {
  return (c, next) => {
    const json = (value: unknown, status?: ContentfulStatusCode, headers?: Record<string, string>) =>
      c.body(boundedJson(value), status, { ...JSON_TYPE, ...headers });
    Object.assign(c, { json });
    return next();
  };
}
