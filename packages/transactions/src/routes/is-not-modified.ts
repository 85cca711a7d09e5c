import { hash } from 'node:crypto';
import type { ApiContext } from '@chainstead/http';

/** How long a client may reuse it without revalidation. Seconds. */
const KEPT_FOR = 60;

/**
 * Lets clients cache a response whose block is final: only its number of confirmations and its labels can change. Its
 * ETag excludes the former, so it is weak.
 * @returns whether the client has it: then the response is an empty 304
 */
export function isNotModified(
  c: ApiContext,
  { confirmations: _, ...answer }: { readonly confirmations: number; readonly finalized: boolean },
): boolean {
  if (!answer.finalized) return false;
  const tag = `"${hash('sha256', JSON.stringify(answer), 'hex').slice(0, 32)}"`;
  // It required a key, so shared caches must not store it.
  c.header('cache-control', `private, max-age=${KEPT_FOR}`);
  c.header('etag', `W/${tag}`);
  const known = (c.req.header('if-none-match') ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

/** The response of {@link isNotModified}. */
export const NOT_MODIFIED = { 304: { description: 'The cached response of the client is still valid' } } as const;
