import { hash } from 'node:crypto';
import type { ApiContext } from '@chainstead/http';

/** So long a client may show it without asking again. Seconds. */
const KEPT_FOR = 60;

/**
 * Lets clients keep an answer whose block is final: nothing of it changes but how many blocks are above, and what labels say. Its tag is of all but the
 * former, and so weak.
 * @returns whether the client has it: then it is sent nothing, with status 304
 */
export function isNotModified(
  c: ApiContext,
  { confirmations: _, ...answer }: { readonly confirmations: number; readonly finalized: boolean },
): boolean {
  if (!answer.finalized) return false;
  const tag = `"${hash('sha256', JSON.stringify(answer), 'hex').slice(0, 32)}"`;
  // A key was needed for it, so that nobody else may be given it.
  c.header('cache-control', `private, max-age=${KEPT_FOR}`);
  c.header('etag', `W/${tag}`);
  const known = (c.req.header('if-none-match') ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

/** Of what {@link isNotModified} says. */
export const NOT_MODIFIED = { 304: { description: 'What the client has is still so' } } as const;
