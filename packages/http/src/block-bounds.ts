import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from './api-error.ts';

/** The four bounds of a list query as they were read. */
export interface BoundParameters {
  readonly from_block?: number | undefined;
  readonly to_block?: number | undefined;
  readonly from_date?: Date | undefined;
  readonly to_date?: Date | undefined;
}

/** Both sides inclusive; on each side a block or a date, never both; null where there is no bound. Plain values that a cursor can carry. */
export interface BlockBounds {
  readonly from_block: number | null;
  readonly to_block: number | null;
  /** Milliseconds since the Unix epoch. */
  readonly from_date: number | null;
  readonly to_date: number | null;
}

/** No bound on either side. */
export const NO_BLOCK_BOUNDS: BlockBounds = { from_block: null, to_block: null, from_date: null, to_date: null };

/** {@link BlockBounds} as members of a page's filter. */
export const blockBoundsSchema = {
  from_block: z.int().nullable(),
  to_block: z.int().nullable(),
  from_date: z.int().nullable(),
  to_date: z.int().nullable(),
};

/** {@link BlockBounds} as a statement takes them. */
export function boundsOfRows(bounds: BlockBounds) {
  const { from_block: fromBlock, to_block: toBlock, from_date, to_date } = bounds;
  return {
    fromBlock,
    toBlock,
    fromDate: from_date === null ? null : new Date(from_date),
    toDate: to_date === null ? null : new Date(to_date),
  };
}

/**
 * Lets a block win over a date on its side (docs/provider-contract.md#blocks-and-dates).
 * @throws InvalidParameterError when the lower bound lies above the upper.
 */
export function readBlockBounds(query: BoundParameters): BlockBounds {
  const bounds: BlockBounds = {
    from_block: query.from_block ?? null,
    to_block: query.to_block ?? null,
    from_date: query.from_block === undefined ? (query.from_date?.getTime() ?? null) : null,
    to_date: query.to_block === undefined ? (query.to_date?.getTime() ?? null) : null,
  };
  refuseReversed('block', bounds.from_block, bounds.to_block, String);
  refuseReversed('date', bounds.from_date, bounds.to_date, (ms) => new Date(ms).toISOString());
  return bounds;
}

/**
 * {@link readBlockBounds} for a page's filter: a side that the request says nothing about is `undefined`, so that the cursor
 * decides; one that it names is settled whole. @throws InvalidParameterError when the lower bound lies above the upper.
 */
export function givenBlockBounds(query: BoundParameters): {
  readonly [Bound in keyof BlockBounds]: number | null | undefined;
} {
  const bounds = readBlockBounds(query);
  const from = query.from_block !== undefined || query.from_date !== undefined;
  const to = query.to_block !== undefined || query.to_date !== undefined;
  return {
    from_block: from ? bounds.from_block : undefined,
    from_date: from ? bounds.from_date : undefined,
    to_block: to ? bounds.to_block : undefined,
    to_date: to ? bounds.to_date : undefined,
  };
}

function refuseReversed(kind: string, from: number | null, to: number | null, write: (value: number) => string): void {
  if (from === null || to === null || from <= to) return;
  throw new InvalidParameterError({
    parameter: `from_${kind}`,
    given: write(from),
    allowed: `at most to_${kind} (${write(to)})`,
  });
}
