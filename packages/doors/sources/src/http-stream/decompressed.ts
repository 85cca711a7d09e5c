import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { CreateFault } from './http-stream.ts';

/** Not in Node.js before 22.15. */
const hasZstd = 'createZstdDecompress' in zlib;

export const ACCEPTED_ENCODINGS = hasZstd ? 'zstd, gzip' : 'gzip';

/** A decompression bomb. Less than `FREE_BYTES` of zeros do no harm. */
const RATIO_MAX = 200;
const FREE_BYTES = 8 * 1024 * 1024;
const MAGIC_BYTES = 4;
/** Lines have up to a megabyte. */
const CHUNK_BYTES = 256 * 1024;
const KNOWN_ENCODINGS = ['', 'identity', 'gzip', 'x-gzip', 'zstd'];

/** By the first bytes: services compress without `content-encoding`, and proxies leave it in place. */
export async function* decompressed(
  raw: AsyncIterable<Buffer>,
  { encoding = '', fault }: { readonly encoding: string | undefined; readonly fault: CreateFault },
): AsyncGenerator<Buffer> {
  if (!KNOWN_ENCODINGS.includes(encoding.toLowerCase()))
    throw fault('wrong', `the response is encoded as ${encoding.slice(0, 20)}, which was not requested`);
  const input = createInput(raw);
  const decoder = decoderOf(await input.start());
  if (decoder === null) yield* input.bytes();
  else yield* decoded(decoder, input, fault);
  // Only now: everything that came before the cut is of use.
  if (input.broken !== null) throw input.broken.error;
}

interface Input {
  start(): Promise<Buffer>;
  bytes(): AsyncGenerator<Buffer>;
  readonly count: number;
  readonly broken: { readonly error: unknown } | null;
}

function createInput(raw: AsyncIterable<Buffer>): Input {
  const iterator = raw[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let count = 0;
  let broken: Input['broken'] = null;

  async function next(): Promise<Buffer | null> {
    try {
      const { done, value } = await iterator.next();
      if (done === true) return null;
      count += value.length;
      return value;
    } catch (error) {
      broken = { error };
      return null;
    }
  }

  return {
    get count() {
      return count;
    },
    get broken() {
      return broken;
    },
    async start() {
      while (head.length < MAGIC_BYTES) {
        const chunk = await next();
        if (chunk === null) break;
        head = Buffer.concat([head, chunk]);
      }
      return head;
    },
    async *bytes() {
      try {
        if (head.length > 0) yield head;
        for (let chunk = await next(); chunk !== null; chunk = await next()) yield chunk;
      } finally {
        await iterator.return?.();
      }
    },
  };
}

function decoderOf(start: Buffer): Transform | null {
  // A truncated stream ends without error: its blocks are complete up to the last line.
  if (start[0] === 0x1f && start[1] === 0x8b)
    return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH, chunkSize: CHUNK_BYTES });
  const isZstd = start.length >= MAGIC_BYTES && start.readUInt32LE(0) === 0xfd2fb528;
  return isZstd && hasZstd ? zlib.createZstdDecompress({ chunkSize: CHUNK_BYTES }) : null;
}

async function* decoded(decoder: Transform, input: Input, fault: CreateFault): AsyncGenerator<Buffer> {
  let count = 0;
  // Iterating the decoder throws the same error.
  pipeline(Readable.from(input.bytes()), decoder, () => undefined);
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      count += chunk.length;
      if (count > FREE_BYTES && count > input.count * RATIO_MAX)
        throw fault('wrong', `${input.count} compressed bytes became more than ${RATIO_MAX} times as many`);
      yield chunk;
    }
  } catch (error) {
    const { code = '' } = Object(error) as { readonly code?: string };
    if (code === 'Z_BUF_ERROR') throw fault('unavailable', 'the compressed stream ended early');
    if (code.startsWith('Z_') || code.startsWith('ZSTD_')) throw fault('wrong', `damaged compression (${code})`);
    throw error;
  }
}
