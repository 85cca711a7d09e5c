import { z } from '@hono/zod-openapi';
import { indexedSchema } from '../routes/indexed.ts';

/** The JSON of a page of a list, for tests. @typeParam Shown the list's view */
export interface PageAnswer<Shown extends { readonly schema: z.ZodType }> {
  readonly total: number | null;
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
  readonly indexed: z.infer<typeof indexedSchema>;
  readonly result: readonly z.infer<Shown['schema']>[];
}

/** The JSON of a page without a total, for tests that parse it. */
export function pageSchema<Row extends z.ZodType>({ schema }: { readonly schema: Row }) {
  return z.strictObject({
    page: z.int().min(0),
    page_size: z.int().min(1),
    cursor: z.string().nullable(),
    indexed: indexedSchema,
    result: z.array(schema),
  });
}
