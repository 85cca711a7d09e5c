import { hash } from 'node:crypto';
import type { ApiContext } from '@chainstead/http';

const KEPT_FOR = 60;

/** A final block changes only in confirmations, which the ETag leaves out, and labels. */
export function isNotModified(
  c: ApiContext,
  { confirmations: _, ...answer }: { readonly confirmations: number; readonly finalized: boolean },
): boolean {
  if (!answer.finalized) return false;
  const tag = `"${hash('sha256', JSON.stringify(answer), 'hex').slice(0, 32)}"`;
  // The request required a key: shared caches must not store it.
  c.header('cache-control', `private, max-age=${KEPT_FOR}`);
  c.header('etag', `W/${tag}`);
  const known = (c.req.header('if-none-match') ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

export const NOT_MODIFIED = { 304: { description: 'The cached response of the client is still valid' } } as const;
