import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/utils/compress';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ApiContext, ApiEnv } from '../api-context.ts';
import { boundedJson, JSON_TYPE } from './response-bytes.ts';

/** Below this size, compressing costs more than it saves. */
const COMPRESS_BYTES_MIN = 2_048;
/** Up to this size a synchronous call is cheaper than a thread; above it, it blocks others. */
const AT_ONCE_BYTES_MAX = 262_144;
/** 60 % of the default level's time, with an eighth more bytes. */
const FASTEST: zlib.ZlibOptions = { level: 1 };
const FASTEST_BROTLI: zlib.BrotliOptions = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };

type Body = Uint8Array | string;

interface Encoder {
  atOnce(body: Body): Uint8Array<ArrayBuffer>;
  elsewhere(body: Body): Promise<Uint8Array<ArrayBuffer>>;
}

type Callback = (error: Error | null, result: NonSharedBuffer) => void;
function encoder<Options>(
  atOnce: (body: Body, options: Options) => NonSharedBuffer,
  elsewhere: (body: Body, options: Options, callback: Callback) => void,
  options: Options,
): Encoder {
  const compress = promisify(elsewhere);
  return { atOnce: (body) => atOnce(body, options), elsewhere: (body) => compress(body, options) };
}

const ENCODERS: ReadonlyMap<string, Encoder> = new Map([
  ...zstdEncoder(),
  ['gzip', encoder(zlib.gzipSync, zlib.gzip, FASTEST)],
  ['br', encoder(zlib.brotliCompressSync, zlib.brotliCompress, FASTEST_BROTLI)],
  ['deflate', encoder(zlib.deflateSync, zlib.deflate, FASTEST)],
]);

function zstdEncoder(): [name: string, encoder: Encoder][] {
  if (typeof zlib.zstdCompressSync !== 'function') return [];
  const options: zlib.ZstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
  return [['zstd', encoder(zlib.zstdCompressSync, zlib.zstdCompress, options)]];
}

export function compression(): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const accepted = c.req.header('accept-encoding');
    if (accepted === undefined || !/zstd|br|gzip|deflate|\*/i.test(accepted)) return next();
    const encoding = encodingFor(accepted);
    const json = c.req.method === 'HEAD' || encoding === null ? null : compressJson(c, encoding);
    await next();
    if (json?.isSent === true || !isCompressible(c)) return;
    if (encoding === null) return varyByEncoding(c.res.headers);
    const { status, headers } = c.res;
    // Reading JSON as text avoids a stream.
    const isJson = headers.get('content-type')?.startsWith('application/json') === true;
    const body = isJson ? Buffer.from(await c.res.text()) : new Uint8Array(await c.res.arrayBuffer());
    const sent = body.byteLength < COMPRESS_BYTES_MIN ? body : await encoded(body, headers, encoding);
    headers.set('content-length', String(sent.byteLength));
    // Assigning a response merges the old headers: clear it first to avoid merging twice.
    c.res = undefined;
    c.res = new Response(sent, { status, headers });
  };
}

/** Building a response and reading it again takes a fifth of Node's time for a page. */
function compressJson(c: ApiContext, [name, encoder]: Encoding): { isSent: boolean } {
  const result = { isSent: false };
  const json = (value: unknown, status?: ContentfulStatusCode, headers?: Record<string, string>) => {
    const text = boundedJson(value);
    const length = Buffer.byteLength(text);
    if (length < COMPRESS_BYTES_MIN) return c.body(text, status, { ...JSON_TYPE, ...headers });
    result.isSent = true;
    // The response may already contain a Vary header.
    c.header('vary', 'Accept-Encoding', { append: true });
    const send = (body: Uint8Array<ArrayBuffer>) => {
      const own = { ...JSON_TYPE, 'content-encoding': name, 'content-length': String(body.byteLength) };
      return c.body(body, status, { ...own, ...headers });
    };
    return length > AT_ONCE_BYTES_MAX ? encoder.elsewhere(text).then(send) : send(encoder.atOnce(text));
  };
  Object.assign(c, { json });
  return result;
}

async function encoded(
  body: Uint8Array<ArrayBuffer>,
  headers: Headers,
  [name, encoder]: Encoding,
): Promise<Uint8Array<ArrayBuffer>> {
  varyByEncoding(headers);
  headers.set('content-encoding', name);
  const etag = headers.get('etag');
  // Another encoding of the same response has a weak tag.
  if (etag !== null && !etag.startsWith('W/')) headers.set('etag', `W/${etag}`);
  return body.byteLength <= AT_ONCE_BYTES_MAX ? encoder.atOnce(body) : encoder.elsewhere(body);
}

function varyByEncoding(headers: Headers): void {
  const vary = headers.get('vary') ?? '';
  if (vary !== '*' && !/(?:^|,)\s*accept-encoding\s*(?:,|$)/i.test(vary))
    headers.append('vary', 'Accept-Encoding');
}

function isCompressible(c: ApiContext): boolean {
  const { status, headers } = c.res;
  const length = headers.get('content-length');
  return (
    c.req.method !== 'HEAD' &&
    status !== 204 &&
    status !== 206 &&
    status !== 304 &&
    !headers.has('content-encoding') &&
    !headers.has('transfer-encoding') &&
    (length === null || Number(length) >= COMPRESS_BYTES_MIN) &&
    COMPRESSIBLE_CONTENT_TYPE_REGEX.test(headers.get('content-type') ?? '') &&
    !/(?:^|,)\s*no-transform\s*(?:,|$)/i.test(headers.get('cache-control') ?? '')
  );
}

/** Every client with a wildcard supports these; newer encodings must be named. */
const MEANT_BY_ANY = new Set(['gzip', 'deflate']);

type Encoding = readonly [name: string, encoder: Encoder];

function encodingFor(accepted: string): Encoding | null {
  const accepts = parseAccept(accepted);
  const qualityOf = (name: string): number =>
    (
      accepts.find(({ type }) => type.toLowerCase() === name) ??
      accepts.find(({ type }) => type === '*' && MEANT_BY_ANY.has(name))
    )?.q ?? 0;
  const [best] = [...ENCODERS].toSorted(([one], [other]) => qualityOf(other) - qualityOf(one));
  return best !== undefined && qualityOf(best[0]) > 0 ? best : null;
}
