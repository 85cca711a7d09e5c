import type { z } from '@hono/zod-openapi';
import type { indexedSchema } from '../routes/indexed.ts';

/** The JSON of a page of a list, for tests. @typeParam Shown the list's view */
export interface PageAnswer<Shown extends { readonly schema: z.ZodType }> {
  readonly total: number | null;
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly indexed: z.infer<typeof indexedSchema>;
  readonly result: readonly z.infer<Shown['schema']>[];
}
