import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BadEncodingError, ResponseTooLargeError } from './egress-error.ts';

export interface BodyLimits {
  readonly host: string;
  /** As sent and decompressed, each. */
  readonly maxBytes: number;
  readonly oversize: 'refuse' | 'truncate';
}

export type BoundedBody = { readonly bytes: Buffer; readonly truncated: boolean };

export interface BodySink {
  /** @returns false until it is ready again */
  add(chunk: Buffer): boolean;
  end(): void;
}

/** One of `done` and `fail` counts; later calls have no effect. */
export interface BodyEvents {
  readonly done: (body: BoundedBody) => void;
  readonly fail: (error: unknown) => void;
  readonly ready: () => void;
}

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Memory holds at most the limit. @param coding lower case; empty: none */
export function openBodySink(coding: string, limits: BodyLimits, events: BodyEvents): BodySink {
  return coding === '' || coding === 'identity'
    ? openPlainSink(limits, events)
    : openCodedSink(coding, limits, events);
}

function openPlainSink(limits: BodyLimits, { done, fail }: BodyEvents): BodySink {
  const bytes = createBoundedBytes(limits.maxBytes);
  return {
    add(chunk) {
      if (!bytes.add(chunk)) endOversize(limits, bytes, { done, fail });
      return true;
    },
    end: () => done({ bytes: bytes.read(), truncated: false }),
  };
}

function openCodedSink(coding: string, limits: BodyLimits, { done, fail, ready }: BodyEvents): BodySink {
  const source = new Readable({ read: ready });
  const decoder = DECODERS.get(coding)?.();
  if (decoder === undefined) {
    fail(new BadEncodingError(limits.host, coding));
    return { add: () => true, end: () => undefined };
  }
  const bytes = createBoundedBytes(limits.maxBytes);
  pipeline([source, createByteLimit(limits.maxBytes), decoder, createCollector(bytes)]).then(
    () => done({ bytes: bytes.read(), truncated: false }),
    (error: unknown) => {
      if (error instanceof LimitReached) endOversize(limits, bytes, { done, fail });
      else {
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        const isZlib = /^(Z_|ERR_(_BROTLI|BROTLI|PADDING))/.test(code);
        fail(isZlib ? new BadEncodingError(limits.host, coding, error) : error);
      }
    },
  );
  return {
    add: (chunk) => source.push(chunk),
    end: () => void source.push(null),
  };
}

function endOversize(
  { host, maxBytes, oversize }: BodyLimits,
  bytes: BoundedBytes,
  { done, fail }: Pick<BodyEvents, 'done' | 'fail'>,
): void {
  if (oversize === 'refuse') fail(new ResponseTooLargeError(host, maxBytes));
  else done({ bytes: bytes.read(), truncated: true });
}

/** Ends the pipeline from inside; never leaves this file. */
class LimitReached extends Error {}

/** Only requested codings. Several on top of each other are for bombs. */
const DECODERS = new Map<string, () => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

/** Endless empty gzip members decompress to nothing: the sent bytes are bounded too. */
function createByteLimit(maxBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      // Invariant: EGRESS-BOUNDED
      if (seen > maxBytes) done(new LimitReached());
      else done(null, chunk);
    },
  });
}

interface BoundedBytes {
  add(chunk: Buffer): boolean;
  read(): Buffer;
}

const EMPTY = Buffer.alloc(0);

function createBoundedBytes(maxBytes: number): BoundedBytes {
  const chunks: Buffer[] = [];
  let kept = 0;
  return {
    add(chunk) {
      const room = maxBytes - kept;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      kept += Math.min(chunk.length, room);
      return chunk.length <= room;
    },
    read: () => (kept === 0 ? EMPTY : Buffer.concat(chunks, kept)),
  };
}

function createCollector(bytes: BoundedBytes): Transform {
  const sink = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(bytes.add(chunk) ? null : new LimitReached()),
  });
  return sink.resume();
}
