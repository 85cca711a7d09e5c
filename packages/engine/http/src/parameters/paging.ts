import { type CursorCodec, InvalidCursorError, type JsonValue } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from '../errors/api-error.ts';
import type { Order } from './parameters.ts';

type FilterValue = string | number | boolean | null | readonly string[];
export type Filter = Readonly<Record<string, FilterValue>>;

export interface Page<F extends Filter, P extends JsonValue> {
  readonly filter: F;
  readonly limit: number;
  readonly order: Order;
  readonly page: number;
  /** This page begins after it; null on the first page. */
  readonly position: P | null;
  /** Fixed by the first page, so that new rows don't shift pages; null on the first page. */
  readonly upperBound: number | null;
  /** Rows that an earlier page was cut to, because of its bytes; null: none was. */
  readonly cutTo: number | null;
}

export interface PageRequest<F extends Filter> {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  readonly order: Order | undefined;
  readonly filter: { readonly [Name in keyof F]?: F[Name] | undefined };
}

export interface RoutePaging<F extends Filter, P extends JsonValue> {
  /** @throws InvalidParameterError for another list's cursor or a contradiction */
  open(request: PageRequest<F>): Page<F, P>;
  next(page: Page<F, P>, place: { readonly position: P; readonly upperBound: number }): string;
}

export interface RoutePagingOptions<F extends Filter, P extends JsonValue> {
  readonly route: string;
  readonly filter: z.ZodType<F>;
  readonly position: z.ZodType<P>;
  readonly limitDefault: number;
  readonly orderDefault?: Order;
}

export interface ShownState {
  /** Null: no reads yet, or an unknown state. */
  position(): string | null;
  /** For later reads of the request. @param position null: only the newest state */
  requireAtLeast(position: string | null): void;
}

export interface Paging {
  forRoute<F extends Filter, P extends JsonValue>(options: RoutePagingOptions<F, P>): RoutePaging<F, P>;
}

/** The whole state is a signed cursor. @param shown null: one server provides all pages */
export function createPaging(codec: CursorCodec, shown: ShownState | null = null): Paging {
  return {
    forRoute: (options) => {
      const schema = claimsSchema(options.filter, options.position);
      return {
        open: (request) => {
          if (request.cursor === undefined) return firstPage(options, request);
          const claims = readClaims(codec, schema, request.cursor);
          const page = pageOfCursor(options.route, request, claims);
          // Cursors without standbys contain no state.
          shown?.requireAtLeast(claims?.w ?? null);
          return page;
        },
        next: (page, place) =>
          codec.encode({
            r: options.route,
            f: page.filter,
            l: page.limit,
            o: page.order,
            n: page.page + 1,
            p: place.position,
            u: place.upperBound,
            ...(page.cutTo !== null && { c: page.cutTo }),
            ...stateOf(shown),
          }),
      };
    },
  };
}

/** Null before the last page (docs/api/index.md#pages), or if a page of the run was cut. */
export function totalOfRun(
  page: { readonly page: number; readonly limit: number; readonly cutTo: number | null },
  { rows, isLast }: { readonly rows: number; readonly isLast: boolean },
): number | null {
  return isLast && page.cutTo === null ? page.page * page.limit + rows : null;
}

function stateOf(shown: ShownState | null): { readonly w?: string } {
  const position = shown?.position() ?? null;
  return position === null ? {} : { w: position };
}

/** Short, since cursors are in URLs. n: page number, u: upper bound, w: state. */
function claimsSchema<F extends Filter, P extends JsonValue>(filter: z.ZodType<F>, position: z.ZodType<P>) {
  return z.object({
    r: z.string(),
    f: filter,
    l: z.int().min(1),
    o: z.enum(['ASC', 'DESC']),
    n: z.int().min(1),
    p: position,
    u: z.int().min(0),
    c: z.int().min(1).optional(),
    w: z.string().optional(),
  });
}

type Claims<F extends Filter, P extends JsonValue> = z.infer<ReturnType<typeof claimsSchema<F, P>>>;

function readClaims<F extends Filter, P extends JsonValue>(
  codec: CursorCodec,
  schema: ReturnType<typeof claimsSchema<F, P>>,
  cursor: string,
): Claims<F, P> | undefined {
  try {
    return schema.safeParse(codec.decode(cursor)).data;
  } catch (error) {
    if (error instanceof InvalidCursorError) return undefined;
    throw error;
  }
}

function firstPage<F extends Filter, P extends JsonValue>(
  options: RoutePagingOptions<F, P>,
  request: PageRequest<F>,
): Page<F, P> {
  const given = Object.entries(request.filter).filter(([, value]) => value !== undefined);
  return {
    filter: options.filter.parse(Object.fromEntries(given)),
    limit: request.limit ?? options.limitDefault,
    order: request.order ?? options.orderDefault ?? 'DESC',
    page: 0,
    position: null,
    upperBound: null,
    cutTo: null,
  };
}

function pageOfCursor<F extends Filter, P extends JsonValue>(
  route: string,
  request: PageRequest<F>,
  claims: Claims<F, P> | undefined,
): Page<F, P> {
  // A cursor of another route fails by shape or name: the message is the same.
  if (claims === undefined || claims.r !== route)
    throw new InvalidParameterError({
      parameter: 'cursor',
      given: request.cursor,
      allowed: 'the cursor of an earlier page of this query, unchanged',
    });
  const filter: Filter = claims.f;
  const { limit, order } = request;
  const requested: Readonly<Record<string, FilterValue | undefined>> = { ...request.filter, order, limit };
  const own: Filter = { ...filter, order: claims.o, limit: claims.l };
  const contradictions = Object.entries(requested).flatMap(([parameter, given]) => {
    const before = own[parameter] ?? null;
    if (given === undefined || JSON.stringify(given) === JSON.stringify(before)) return [];
    return [{ parameter, given, allowed: `${JSON.stringify(before)} as in the cursor, or left out` }];
  });
  // Invariant: PAGE-SIGNED-CURSOR
  if (contradictions.length > 0) throw new InvalidParameterError(...contradictions);
  return {
    filter: claims.f,
    limit: claims.l,
    order: claims.o,
    page: claims.n,
    position: claims.p,
    upperBound: claims.u,
    cutTo: claims.c ?? null,
  };
}

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
