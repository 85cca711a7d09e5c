import { type CursorCodec, InvalidCursorError, type JsonValue } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from '../errors/api-error.ts';
import type { Order } from './parameters.ts';

type FilterValue = string | number | boolean | null | readonly string[];
/** A query's filter in normalized form, by parameter name. */
export type Filter = Readonly<Record<string, FilterValue>>;

export interface Page<F extends Filter, P extends JsonValue> {
  readonly filter: F;
  readonly limit: number;
  readonly order: Order;
  /** From 0. */
  readonly page: number;
  /** The row after which this page begins; null on the first page. */
  readonly position: P | null;
  /** Highest block of the run, fixed by its first page, so that new rows don't shift pages; null on the first page. */
  readonly upperBound: number | null;
  /** Number of rows that an earlier page was cut to because its bytes were too many; null: no page was cut. */
  readonly cutTo: number | null;
}

/** The request's parameters. `undefined` means omitted. */
export interface PageRequest<F extends Filter> {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  readonly order: Order | undefined;
  readonly filter: { readonly [Name in keyof F]?: F[Name] | undefined };
}

export interface RoutePaging<F extends Filter, P extends JsonValue> {
  /** Omitted parameters come from the cursor. @throws InvalidParameterError for another list's cursor or a contradiction */
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

/** The database state shown by the pages of a run, if several servers provide them. */
export interface ShownState {
  /** State of the request's reads so far; null: no reads yet, or an unknown state. */
  position(): string | null;
  /** Requires later reads of the request to be at least this recent. @param position null: only the newest state */
  requireAtLeast(position: string | null): void;
}

export interface Paging {
  forRoute<F extends Filter, P extends JsonValue>(options: RoutePagingOptions<F, P>): RoutePaging<F, P>;
}

/** Creates keyset paging whose whole state is a signed cursor. @param shown null: one server provides all pages */
export function createPaging(codec: CursorCodec, shown: ShownState | null = null): Paging {
  return {
    forRoute: (options) => {
      const schema = claimsSchema(options.filter, options.position);
      return {
        open: (request) => {
          if (request.cursor === undefined) return firstPage(options, request);
          const claims = readClaims(codec, schema, request.cursor);
          const page = pageOfCursor(options.route, request, claims);
          // Cursors from the primary alone, or from a process without standbys, contain no state.
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

/** Costs nothing: null before the last page (docs/api/index.md#pages), or if a page of the run was cut. */
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

/** Short, since cursors are in URLs: route, filter, limit, order, number, place, upper bound, cut rows, state. */
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
  // A cursor of another route has another filter and fails by shape or by name; the message is the same.
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
