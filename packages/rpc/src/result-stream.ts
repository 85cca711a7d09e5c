import { ChainsteadError } from '@chainstead/core';
import type { ValueScanner } from './value-scanner.ts';

/** A large result that was passed on in part when its upstream failed: no other one can go on with it. */
export class BrokenResultError extends ChainsteadError {
  constructor(options: { upstream: string; method: string; reason: string; cause?: unknown }) {
    super({
      code: 'BROKEN_RESULT',
      message: `The result of ${options.method} broke off: ${options.reason}`,
      facts: { upstream: options.upstream, method: options.method },
      retryable: true,
      cause: options.cause,
    });
  }
}

/** Where the bytes come from. */
export interface ResultSource {
  /** No more for now. */
  pause(): void;
  resume(): void;
  /** The reader has had enough. */
  cancel(): void;
}

/** The JSON text of one result, cut out of an answer while that comes in. */
export interface ResultStream {
  readonly pieces: AsyncIterable<Buffer>;
  /** Bytes that the reader has not taken yet. */
  readonly waiting: number;
  push(bytes: Buffer): void;
  /** The answer is complete: gives what is wrong with it, or null. */
  end(): string | null;
  fail(error: Error): void;
}

/** Bytes that may wait for the reader before the source is paused, and at which it is resumed. */
const WAITING_MAX = 256 * 1024;
const WAITING_MIN = 64 * 1024;
/** What may follow the result: some short members and brackets. */
const TAIL_MAX = 4096;

interface ResultStreamOptions {
  /** What has come of the result. */
  readonly first: Buffer;
  /** Has seen the result so far: what is pushed first. */
  readonly scanner: ValueScanner;
  readonly isList: boolean;
  /** What is wrong with the members after the result, or null. */
  readonly checkTail: (members: Readonly<Record<string, unknown>>) => string | null;
  readonly source: ResultSource;
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

/** The rest of the answer, checked by putting something short in the result's place. */
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
    return `what follows the result is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof members !== 'object' || members === null || Array.isArray(members)) return 'it is more than one answer';
  return checkTail(members as Readonly<Record<string, unknown>>);
}
