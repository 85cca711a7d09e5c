import { defineError, errorText, isObject } from '@chainstead/core';
import type { ValueScanner } from './value-scanner.ts';

/** An upstream failed after part of a large result was forwarded. No other one can continue it. */
export class BrokenResultError extends defineError(
  'BROKEN_RESULT',
  (options: { upstream: string; method: string; reason: string; cause?: unknown }) => ({
    message: `The result of ${options.method} was cut off: ${options.reason}`,
    facts: { upstream: options.upstream, method: options.method },
    retryable: true,
    cause: options.cause,
  }),
) {}

export interface ResultStream {
  readonly pieces: AsyncIterable<Buffer>;
  readonly waiting: number;
  push(bytes: Buffer): void;
  /** Returns the response's error, or null. */
  end(): string | null;
  fail(error: Error): void;
}

/** Bytes at which the source is paused, and resumed. */
const WAITING_MAX = 256 * 1024;
const WAITING_MIN = 64 * 1024;
/** Bytes after the result. */
const TAIL_MAX = 4096;

interface ResultStreamOptions {
  readonly first: Buffer;
  /** Has scanned so far; `first` is pushed first. */
  readonly scanner: ValueScanner;
  readonly isList: boolean;
  readonly checkTail: (members: Readonly<Record<string, unknown>>) => string | null;
  readonly source: { pause(): void; resume(): void; cancel(): void };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the scanner and the stream share the place in the answer.
export function createResultStream(options: ResultStreamOptions): ResultStream {
  const { scanner, isList, checkTail, source } = options;
  const queue: Buffer[] = [options.first];
  let waiting = options.first.length;
  let tail: Buffer | null = null;
  let isPaused = false;
  let isOver = false;
  let failure: Error | null = null;
  let reader: PromiseWithResolvers<IteratorResult<Buffer, undefined>> | null = null;

  function offer(piece: Buffer): void {
    if (piece.length === 0) return;
    if (reader !== null) {
      reader.resolve({ value: piece, done: false });
      reader = null;
      return;
    }
    queue.push(piece);
    waiting += piece.length;
    if (waiting > WAITING_MAX && !isPaused) {
      isPaused = true;
      source.pause();
    }
  }

  function settle(): void {
    if (reader === null || queue.length > 0) return;
    if (failure !== null) reader.reject(failure);
    else if (isOver) reader.resolve({ value: undefined, done: true });
    else return;
    reader = null;
  }

  function next(): Promise<IteratorResult<Buffer, undefined>> {
    const piece = queue.shift();
    if (piece !== undefined) {
      waiting -= piece.length;
      if (isPaused && waiting < WAITING_MIN) {
        isPaused = false;
        source.resume();
      }
      return Promise.resolve({ value: piece, done: false });
    }
    reader = Promise.withResolvers();
    const { promise } = reader;
    settle();
    return promise;
  }

  const iterator: AsyncIterator<Buffer, undefined> = {
    next,
    return() {
      queue.length = 0;
      waiting = 0;
      if (!isOver && failure === null) {
        isOver = true;
        source.cancel();
      }
      return Promise.resolve({ value: undefined, done: true });
    },
  };

  return {
    pieces: { [Symbol.asyncIterator]: () => iterator },
    get waiting() {
      return waiting;
    },
    push(bytes) {
      if (isOver || failure !== null) return;
      if (tail !== null) {
        if (tail.length <= TAIL_MAX) tail = Buffer.concat([tail, bytes.subarray(0, TAIL_MAX)]);
        return;
      }
      const end = scanner.scan(bytes, 0);
      if (end >= 0) tail = Buffer.from(bytes.subarray(end, end + TAIL_MAX));
      offer(end < 0 ? bytes : bytes.subarray(0, end));
    },
    end() {
      const wrong = tail === null ? 'it ends inside the result' : checkEnd(tail, { isList, checkTail });
      if (wrong === null) {
        isOver = true;
        settle();
      }
      return wrong;
    },
    fail(error) {
      if (isOver) return;
      failure = error;
      settle();
    },
  };
}

function checkEnd(
  tail: Buffer,
  { isList, checkTail }: Pick<ResultStreamOptions, 'isList' | 'checkTail'>,
): string | null {
  if (tail.length > TAIL_MAX) return 'too much follows the result';
  let members: unknown;
  try {
    const json: unknown = JSON.parse(`${isList ? '[' : ''}{"":0${tail.toString('utf8')}`);
    members = Array.isArray(json) && json.length === 1 ? json[0] : json;
  } catch (error) {
    return `what follows the result is not JSON: ${errorText(error)}`;
  }
  return isObject(members) ? checkTail(members) : 'it is more than one answer';
}
