import { type CursorCodec, InvalidCursorError, type JsonValue } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from './api-error.ts';
import type { Order } from './parameters.ts';

type FilterValue = string | number | boolean | null | readonly string[];
/** A query's filter in its one normal form, by parameter name. */
export type Filter = Readonly<Record<string, FilterValue>>;

/** Which page a request asks for. */
export interface Page<F extends Filter, P extends JsonValue> {
  readonly filter: F;
  readonly limit: number;
  readonly order: Order;
  /** From 0. */
  readonly page: number;
  /** After which row this page begins; null on the first page. */
  readonly position: P | null;
  /** Highest block of the run, fixed by its first page, so that new rows don't shift pages; null on the first page. */
  readonly upperBound: number | null;
}

/** What a request says. `undefined` is what it leaves out. */
export interface PageRequest<F extends Filter> {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  readonly order: Order | undefined;
  readonly filter: { readonly [Name in keyof F]: F[Name] | undefined };
}

export interface RoutePaging<F extends Filter, P extends JsonValue> {
  /**
   * The first page, or the one that the cursor stands for. What the request leaves out comes from the cursor,
   * and the cursor's limit counts. @throws InvalidParameterError for a foreign cursor or a contradiction.
   */
  open(request: PageRequest<F>): Page<F, P>;
  /** The cursor of the page after this one. */
  next(page: Page<F, P>, place: { readonly position: P; readonly upperBound: number }): string;
}

export interface RoutePagingOptions<F extends Filter, P extends JsonValue> {
  /** Names the route in its cursors, so that none works elsewhere. */
  readonly route: string;
  readonly filter: z.ZodType<F>;
  readonly position: z.ZodType<P>;
  /** What a first page takes for each parameter that the request leaves out. */
  readonly defaults: F;
  readonly limitDefault: number;
  /** Default DESC. */
  readonly orderDefault?: Order;
}

/** Which state of the database the answers of a run show, where several servers give them. */
export interface ShownState {
  /** That of what the request has read so far; null: nothing, or of nobody knows which. */
  position(): string | null;
  /** What the request reads from here on is no older. @param position null: only the newest will do */
  requireAtLeast(position: string | null): void;
}

export interface Paging {
  forRoute<F extends Filter, P extends JsonValue>(options: RoutePagingOptions<F, P>): RoutePaging<F, P>;
}

/** Keyset paging whose whole state is a signed cursor. @param shown null: one server gives all pages */
export function createPaging(codec: CursorCodec, shown: ShownState | null = null): Paging {
  return {
    forRoute: (options) => {
      const schema = claimsSchema(options.filter, options.position);
      return {
        open: (request) => {
          if (request.cursor === undefined) return firstPage(options, request);
          const claims = readClaims(codec, schema, request.cursor);
          const page = pageOfCursor(options.route, request, claims);
          // A page of the primary alone, or of a process without standbys, names no state.
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
            ...stateOf(shown),
          }),
      };
    },
  };
}

/** How many rows a whole run has, where it costs nothing: known on its last page, null before (docs/provider-contract.md#pages). */
export function totalOfRun(
  page: { readonly page: number; readonly limit: number },
  { rows, isLast }: { readonly rows: number; readonly isLast: boolean },
): number | null {
  return isLast ? page.page * page.limit + rows : null;
}

function stateOf(shown: ShownState | null): { readonly w?: string } {
  const position = shown?.position() ?? null;
  return position === null ? {} : { w: position };
}

/** Short names, since a cursor travels in URLs: route, filter, limit, order, page number, position, upper bound, state of the database. */
function claimsSchema<F extends Filter, P extends JsonValue>(filter: z.ZodType<F>, position: z.ZodType<P>) {
  return z.object({
    r: z.string(),
    f: filter,
    l: z.int().min(1),
    o: z.enum(['ASC', 'DESC']),
    n: z.int().min(1),
    p: position,
    u: z.int().min(0),
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
    filter: { ...options.defaults, ...Object.fromEntries(given) },
    limit: request.limit ?? options.limitDefault,
    order: request.order ?? options.orderDefault ?? 'DESC',
    page: 0,
    position: null,
    upperBound: null,
  };
}

function pageOfCursor<F extends Filter, P extends JsonValue>(
  route: string,
  request: PageRequest<F>,
  claims: Claims<F, P> | undefined,
): Page<F, P> {
  // A cursor of another route has another filter and fails by its shape or by its name: both read the same.
  if (claims === undefined || claims.r !== route)
    throw new InvalidParameterError({
      parameter: 'cursor',
      given: request.cursor,
      allowed: 'the cursor of an earlier page of this query, unchanged',
    });
  const filter: Filter = claims.f;
  const { limit, order } = request;
  const asked: Readonly<Record<string, FilterValue | undefined>> = { ...request.filter, order, limit };
  const own: Filter = { ...filter, order: claims.o, limit: claims.l };
  const contradictions = Object.entries(asked).flatMap(([parameter, given]) => {
    const before = own[parameter] ?? null;
    if (given === undefined || JSON.stringify(given) === JSON.stringify(before)) return [];
    return [{ parameter, given, allowed: `${JSON.stringify(before)} as in the cursor, or left out` }];
  });
  if (contradictions.length > 0) throw new InvalidParameterError(...contradictions);
  return {
    filter: claims.f,
    limit: claims.l,
    order: claims.o,
    page: claims.n,
    position: claims.p,
    upperBound: claims.u,
  };
}
