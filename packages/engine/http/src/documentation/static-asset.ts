import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';

export interface StaticAsset {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export function staticAsset(content: string | Buffer, type: string): StaticAsset {
  const body = new Uint8Array(Buffer.from(content));
  return {
    type,
    body,
    gzip: new Uint8Array(gzipSync(body)),
    etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"`,
  };
}

export function sendAsset(c: Context, asset: StaticAsset): Response {
  c.header('cache-control', 'no-cache');
  c.header('vary', 'Accept-Encoding', { append: true });
  // Weak: the plain and the gzip form share one tag.
  c.header('etag', `W/${asset.etag}`);
  const known =
    c.req
      .header('if-none-match')
      ?.split(',')
      .map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  if (known.includes(asset.etag) || known.includes('*')) return c.body(null, 304);
  c.header('content-type', asset.type);
  if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(asset.body, 200);
  c.header('content-encoding', 'gzip');
  return c.body(asset.gzip, 200);
}
