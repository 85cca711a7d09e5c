import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from '../errors/api-error.ts';

export interface BoundParameters {
  readonly from_block?: number | undefined;
  readonly to_block?: number | undefined;
  readonly from_date?: Date | undefined;
  readonly to_date?: Date | undefined;
}

/** Inclusive: block or date per side, or null. Plain values that fit into a cursor. */
interface BlockBounds {
  readonly from_block: number | null;
  readonly to_block: number | null;
  /** Unix milliseconds. */
  readonly from_date: number | null;
  readonly to_date: number | null;
}

export const blockBoundsSchema = {
  from_block: z.int().nullable().default(null),
  to_block: z.int().nullable().default(null),
  from_date: z.int().nullable().default(null),
  to_date: z.int().nullable().default(null),
};

/** The query of a list of rows in the order of the chain. */
export function chainQueryOf<P>(page: {
  readonly filter: BlockBounds;
  readonly limit: number;
  readonly order: 'ASC' | 'DESC';
  readonly position: P | null;
  readonly upperBound: number | null;
}) {
  const { filter, limit, order, position, upperBound } = page;
  const { from_block: fromBlock, to_block: toBlock, from_date, to_date } = filter;
  const fromDate = from_date === null ? null : new Date(from_date);
  const toDate = to_date === null ? null : new Date(to_date);
  return { order, limit, after: position, pinnedBlock: upperBound, fromBlock, toBlock, fromDate, toDate };
}

/** A block wins over a date (docs/api/index.md#blocks-and-dates). @throws InvalidParameterError */
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

/** For a page filter: an omitted side is `undefined`, so that the cursor decides. */
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

function refuseReversed(
  kind: string,
  from: number | null,
  to: number | null,
  write: (value: number) => string,
): void {
  if (from === null || to === null || from <= to) return;
  throw new InvalidParameterError({
    parameter: `from_${kind}`,
    given: write(from),
    allowed: `at most to_${kind} (${write(to)})`,
  });
}
