import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BadEncodingError, ResponseTooLargeError } from './egress-error.ts';

export interface BodyLimits {
  readonly host: string;
  /** For the bytes as sent and for the bytes after decompression, each. */
  readonly maxBytes: number;
  readonly oversize: 'refuse' | 'truncate';
}

export interface BoundedBody {
  readonly bytes: Buffer;
  /** Whether more would have come. */
  readonly truncated: boolean;
}

/** The content codings that are asked for and understood. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads a body up to a limit, decompressing as it goes: memory never holds more than the limit, however small the bomb.
 * @throws ResponseTooLargeError, BadEncodingError
 */
export async function readBoundedBody(
  body: Readable,
  contentEncoding: string | undefined,
  limits: BodyLimits,
): Promise<BoundedBody> {
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  const decoder = decoderOf(encoding);
  if (decoder === 'unknown') {
    discardBody(body);
    throw new BadEncodingError(limits.host, encoding);
  }
  const collector = createCollector(limits.maxBytes);
  const stages: Transform[] = decoder === null ? [] : [createByteLimit(limits.maxBytes), decoder];
  try {
    await pipeline([body, ...stages, collector.sink]);
  } catch (error) {
    if (error instanceof LimitReached) {
      if (limits.oversize === 'refuse') throw new ResponseTooLargeError(limits.host, limits.maxBytes);
      return { bytes: collector.bytes(), truncated: true };
    }
    if (isZlibError(error)) throw new BadEncodingError(limits.host, encoding, error);
    throw error;
  }
  return { bytes: collector.bytes(), truncated: false };
}

/** Ends a body that nobody will read. undici reports that as an error of the stream, which nobody else listens to. */
export function discardBody(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

/** Ends the pipeline from inside; never leaves this file. */
class LimitReached extends Error {}

/** Null: the bytes are as they are. Several codings on top of each other are for bombs only. */
function decoderOf(encoding: string): Transform | null | 'unknown' {
  switch (encoding) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return 'unknown';
  }
}

/** Endless empty gzip members decompress to nothing, so what is sent is bounded too. */
function createByteLimit(maxBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxBytes) done(new LimitReached());
      else done(null, chunk);
    },
  });
}

function createCollector(maxBytes: number): { readonly sink: Transform; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  let kept = 0;
  const sink = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const room = maxBytes - kept;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      kept += Math.min(chunk.length, room);
      done(chunk.length > room ? new LimitReached() : null);
    },
  });
  // Nothing is passed on; resuming lets the transform end.
  sink.resume();
  return { sink, bytes: () => Buffer.concat(chunks, kept) };
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(Z_|ERR_(_BROTLI|BROTLI|PADDING))/.test(String(error.code));
}
