import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import type { ApiContext, ApiEnv } from './api-context.ts';

/** Below this a compressed answer saves less than it costs. Bytes. */
const COMPRESS_BYTES_MIN = 2_048;

/** gzip or deflate for clients that ask for it, above a size. The others pass without any cost. */
export function compression(): MiddlewareHandler<ApiEnv> {
  const apply = compress({ threshold: COMPRESS_BYTES_MIN });
  return async (c, next) => {
    const accepted = c.req.header('accept-encoding');
    if (accepted === undefined || !/gzip|deflate|\*/.test(accepted)) return next();
    return apply(c, async () => {
      await next();
      await stateLength(c);
    });
  };
}

/** The threshold is compared with Content-Length, which JSON answers don't state. All bodies here are bounded. */
async function stateLength(c: ApiContext): Promise<void> {
  if (c.req.method === 'HEAD' || c.res.body === null || c.res.headers.has('content-length')) return;
  const body = await c.res.arrayBuffer();
  const { status, headers } = c.res;
  headers.set('content-length', String(body.byteLength));
  // Assigning merges the old answer's headers into the new one; without an old one there is nothing to merge twice.
  c.res = undefined;
  c.res = new Response(body, { status, headers });
}
