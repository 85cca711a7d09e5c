import { z } from '@hono/zod-openapi';
import { wire } from './wire.ts';

/** The unbroken run of blocks that ends with the newest one; nulls for nothing. */
export interface Indexed {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly complete: boolean;
}

export interface IndexedColumns {
  readonly indexedFrom: number | null;
  readonly indexedTo: number | null;
  /** Null in rows that leave all of it to the first. */
  readonly complete: boolean | null;
}

export function readIndexed(row: IndexedColumns | undefined): Indexed {
  return {
    fromBlock: row?.indexedFrom ?? null,
    toBlock: row?.indexedTo ?? null,
    complete: row?.complete ?? false,
  };
}

const blockDigits = z.string().openapi({ pattern: '^[0-9]+$', example: '18500000' }).nullable();

/** docs/api/index.md#completeness */
export const indexedSchema = z
  .object({
    from_block: blockDigits,
    to_block: blockDigits,
    complete: z.boolean().openapi({ description: 'true if every requested block is indexed' }),
  })
  .openapi('Indexed', { description: 'The unbroken range of indexed blocks that ends with the newest one' });

export function showIndexed(indexed: Indexed): z.infer<typeof indexedSchema> {
  return {
    from_block: indexed.fromBlock?.toString() ?? null,
    to_block: indexed.toBlock?.toString() ?? null,
    complete: indexed.complete,
  };
}

/** A field of responses that aren't lists. */
export const indexedBlocks = wire(indexedSchema, showIndexed);

export function indexedHeaders({ fromBlock, toBlock, complete }: Indexed): Readonly<Record<string, string>> {
  return {
    ...(fromBlock !== null && { 'x-indexed-from-block': String(fromBlock) }),
    ...(toBlock !== null && { 'x-indexed-to-block': String(toBlock) }),
    'x-indexed-complete': String(complete),
  };
}
