import { promisify } from 'node:util';
import { deflate, deflateSync, gzip, gzipSync, type ZlibOptions } from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/utils/compress';
import type { ApiContext, ApiEnv } from './api-context.ts';

/** Below this a compressed answer saves less than it costs. Bytes. */
const COMPRESS_BYTES_MIN = 2_048;
/** Up to this one call is cheaper than the way to another thread and back; above it, it would keep others waiting. Bytes. */
const AT_ONCE_BYTES_MAX = 262_144;
/** A page of transfers takes 60 % of the time of the default level, and an eighth more bytes. */
const OPTIONS: ZlibOptions = { level: 1 };

type Encode = (body: Uint8Array) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;

/** In the order in which they are preferred. */
const ENCODERS: ReadonlyMap<string, Encode> = new Map([
  ['gzip', encoder(gzipSync, promisify(gzip))],
  ['deflate', encoder(deflateSync, promisify(deflate))],
]);

/** gzip or deflate for clients that ask for it, above a size. The others pass without any cost. */
export function compression(): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    await next();
    const accepted = c.req.header('accept-encoding');
    if (accepted === undefined || !/gzip|deflate|\*/.test(accepted) || !isCompressible(c)) return;
    const { status, headers } = c.res;
    const body = await bodyOf(c.res);
    const sent = body.byteLength < COMPRESS_BYTES_MIN ? body : await encoded(body, headers, accepted);
    headers.set('content-length', String(sent.byteLength));
    // Assigning merges the old answer's headers into the new one; without an old one there is nothing to merge twice.
    c.res = undefined;
    c.res = new Response(sent, { status, headers });
  };
}

/** Of JSON, the answer is a text: read as one, no stream stands between. */
async function bodyOf(answer: Response): Promise<Uint8Array<ArrayBuffer>> {
  return answer.headers.get('content-type')?.startsWith('application/json')
    ? Buffer.from(await answer.text())
    : new Uint8Array(await answer.arrayBuffer());
}

async function encoded(
  body: Uint8Array<ArrayBuffer>,
  headers: Headers,
  accepted: string,
): Promise<Uint8Array<ArrayBuffer>> {
  addVary(headers);
  const encoding = encodingFor(accepted);
  if (encoding === null) return body;
  const [name, encode] = encoding;
  headers.set('content-encoding', name);
  const etag = headers.get('etag');
  // The same answer in another form has a weak tag.
  if (etag !== null && !etag.startsWith('W/')) headers.set('etag', `W/${etag}`);
  return encode(body);
}

function encoder(
  atOnce: (body: Uint8Array, options: ZlibOptions) => Uint8Array<ArrayBuffer>,
  elsewhere: (body: Uint8Array, options: ZlibOptions) => Promise<Uint8Array<ArrayBuffer>>,
): Encode {
  return (body) => (body.byteLength <= AT_ONCE_BYTES_MAX ? atOnce(body, OPTIONS) : elsewhere(body, OPTIONS));
}

/** Whether the answer has a body that is worth reading for it. */
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

/** Of those that the client likes best, the first. */
function encodingFor(accepted: string): readonly [name: string, encode: Encode] | null {
  const accepts = parseAccept(accepted);
  const qualityOf = (name: string): number =>
    (accepts.find(({ type }) => type.toLowerCase() === name) ?? accepts.find(({ type }) => type === '*'))?.q ?? 0;
  const [best] = [...ENCODERS].toSorted(([one], [other]) => qualityOf(other) - qualityOf(one));
  return best !== undefined && qualityOf(best[0]) > 0 ? best : null;
}

function addVary(headers: Headers): void {
  const vary = headers.get('vary') ?? '';
  if (vary !== '*' && !/(?:^|,)\s*accept-encoding\s*(?:,|$)/i.test(vary)) headers.append('vary', 'Accept-Encoding');
}
