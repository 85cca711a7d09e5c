import { view } from './view.ts';
import { digits, flag, wire } from './wire.ts';

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

export const indexedFields = {
  from_block: digits.orNull({ example: '18500000' }, ({ fromBlock }: Indexed) => fromBlock?.toString() ?? null),
  to_block: digits.orNull({ example: '18500000' }, ({ toBlock }: Indexed) => toBlock?.toString() ?? null),
  complete: flag('true if every requested block is indexed'),
};

/** docs/api/index.md#completeness */
const { schema, show } = view('Indexed', (indexed: Indexed) => indexed, indexedFields);

export const indexedSchema = schema.openapi({
  description: 'The unbroken range of indexed blocks that ends with the newest one',
});

export const showIndexed = show;

/** A field of responses that aren't lists. */
export const indexedBlocks = wire(indexedSchema, showIndexed);

export function indexedHeaders({ fromBlock, toBlock, complete }: Indexed): Readonly<Record<string, string>> {
  return {
    ...(fromBlock !== null && { 'x-indexed-from-block': String(fromBlock) }),
    ...(toBlock !== null && { 'x-indexed-to-block': String(toBlock) }),
    'x-indexed-complete': String(complete),
  };
}
