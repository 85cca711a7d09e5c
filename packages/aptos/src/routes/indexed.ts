import { z } from '@hono/zod-openapi';

/** Which versions an answer could contain: an extra member, so that a short answer never looks like a full one. */
export const indexedSchema = z.object({
  from_version: z.string().nullable(),
  to_version: z.string().nullable(),
  complete: z.boolean().openapi({ description: 'Whether every version from 0 to to_version is indexed' }),
});

/** @param covered the newest range of versions that is indexed, as `{first,last}`; null where there is none */
export function showIndexed(covered: string | null): z.infer<typeof indexedSchema> {
  const [first, last] = covered?.slice(1, -1).split(',') ?? [];
  return { from_version: first ?? null, to_version: last ?? null, complete: first === '0' };
}
