import { type CursorCodec, InvalidCursorError, type JsonValue } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { InvalidParameterError } from '../errors/api-error.ts';
import type { ShownState } from '../parameters/paging.ts';
import type { Order } from '../parameters/parameters.ts';
import type { Values } from './route.ts';

/** One page of a run: the pages that one request began. */
export interface Page<P> {
  readonly order: Order;
  readonly limit: number;
  /** From 0. */
  readonly number: number;
  /** The last row of the page before; null on the first page. */
  readonly position: P | null;
  /** The highest block of the run, so that new rows don't shift pages; null on the first page. */
  readonly upperBound: number | null;
  /** Rows that an earlier page was cut to, because of its bytes; null: none was. */
  readonly cutTo: number | null;
  /** Number of all rows, if the first request counted them. */
  readonly count: number | null;
  readonly run: Run;
}

/** What every page of a run repeats. */
interface Run {
  /** Values of the path and the body. */
  readonly bound: Values;
  /** The query as sent, so that later pages parse the same. */
  readonly sent: Readonly<Record<string, string | readonly string[]>>;
}

/** The last row of a page, and the highest block of its run. */
export interface Place<P> {
  readonly position: P;
  readonly upperBound: number;
}

interface PagesOptions<P extends JsonValue> {
  /** Cursors of another list are refused. */
  readonly operationId: string;
  readonly position: z.ZodType<P>;
  readonly limitDefault: number;
  readonly orderDefault?: Order;
  readonly isLimitPerPage?: boolean;
  refusal?(error: InvalidParameterError): Error;
}

interface SentRequest {
  /** Values of the path and the body. */
  readonly bound: Run['bound'];
  readonly sent: Values;
  /** @throws InvalidParameterError */
  parse(sent: Values): Values;
}

interface PageParameters {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly order?: Order | undefined;
}

const ITS_OWN: ReadonlySet<string> = new Set(['cursor', 'limit', 'order']);

/** The whole state of a run is in its signed cursor. @param shown null: one server provides all pages */
export function createPages<P extends JsonValue>(
  list: PagesOptions<P>,
  codec: CursorCodec,
  shown: ShownState | null,
) {
  const schema = claimsSchema(list.operationId, list.position);
  const read = (cursor: string) => {
    try {
      return schema.safeParse(codec.decode(cursor)).data;
    } catch (error) {
      if (error instanceof InvalidCursorError) return undefined;
      throw error;
    }
  };
  const first = ({ bound, sent, parse }: SentRequest): Opened<P> => {
    const values: PageParameters & Values = parse(sent);
    const own = Object.entries(sent).filter(([name]) => name in values && !ITS_OWN.has(name));
    const page = {
      order: values.order ?? list.orderDefault ?? 'DESC',
      limit: values.limit ?? list.limitDefault,
      number: 0,
      ...{ position: null, upperBound: null, cutTo: null, count: null },
      run: { bound, sent: Object.fromEntries(own) as Run['sent'] },
    };
    return { page, values };
  };
  const later = ({ bound, sent, parse }: SentRequest, cursor: string): Opened<P> => {
    const claims = read(cursor);
    if (claims === undefined) {
      parse(sent);
      throw new InvalidParameterError({
        parameter: 'cursor',
        given: cursor,
        allowed: 'the cursor of an earlier page of this query, unchanged',
      });
    }
    const { isLimitPerPage = false } = list;
    const before = {
      ...claims.b,
      ...parse({ limit: String(claims.l), ...claims.q }),
      order: claims.o,
      limit: claims.l,
    };
    const values: PageParameters & Values = parse({ ...claims.q, ...sent });
    const given = Object.entries(values).filter(([name]) => name in sent && name !== 'cursor');
    const { limit, ...others } = Object.fromEntries(given);
    refuseOthers({ ...bound, ...others, ...(!isLimitPerPage && limit !== undefined && { limit }) }, before);
    // Cursors without standbys contain no state.
    shown?.requireAtLeast(claims.w ?? null);
    const page = {
      ...{ order: claims.o, limit: (isLimitPerPage ? values.limit : null) ?? claims.l, number: claims.n },
      ...{ position: claims.p, upperBound: claims.u, cutTo: claims.c ?? null, count: claims.t ?? null },
      run: { bound: claims.b, sent: claims.q },
    };
    return { page, values };
  };
  return {
    /** @throws InvalidParameterError for a cursor of another list or a contradiction, or as `refusal` */
    open(request: SentRequest): Opened<P> {
      const { cursor } = request.sent;
      if (typeof cursor !== 'string' || cursor === '') return first(request);
      try {
        return later(request, cursor);
      } catch (error) {
        throw error instanceof InvalidParameterError && list.refusal !== undefined ? list.refusal(error) : error;
      }
    },
    /** The cursor of the page after `place`. */
    next(page: Page<P>, place: Place<P>): string {
      const state = shown?.position() ?? null;
      return codec.encode({
        r: list.operationId,
        b: boundSchema.parse(page.run.bound),
        q: page.run.sent,
        l: page.limit,
        o: page.order,
        n: page.number + 1,
        p: place.position,
        u: place.upperBound,
        ...(page.cutTo !== null && { c: page.cutTo }),
        ...(page.count !== null && { t: page.count }),
        ...(state !== null && { w: state }),
      });
    },
  };
}

interface Opened<P> {
  readonly page: Page<P>;
  readonly values: Values;
}

const boundSchema = z.record(z.string(), z.json());

/** Short, since cursors are in URLs. b: bound values, q: query, n: page number, u: upper bound, t: count, w: state. */
function claimsSchema<P extends JsonValue>(list: string, position: z.ZodType<P>) {
  return z.object({
    r: z.literal(list),
    b: boundSchema,
    q: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    l: z.int().min(1),
    o: z.enum(['ASC', 'DESC']),
    n: z.int().min(1),
    p: position,
    u: z.int().min(0),
    c: z.int().min(1).optional(),
    t: z.int().min(0).optional(),
    w: z.string().optional(),
  });
}

/** @throws InvalidParameterError with all contradictions. Invariant: PAGE-SIGNED-CURSOR */
function refuseOthers(given: Values, before: Values): void {
  const contradictions = Object.entries(given).flatMap(([parameter, value]) => {
    const [now, earlier] = [plain(value), plain(before[parameter])];
    if (JSON.stringify(now) === JSON.stringify(earlier)) return [];
    return [{ parameter, given: now, allowed: `${JSON.stringify(earlier)} as in the cursor, or left out` }];
  });
  if (contradictions.length > 0) throw new InvalidParameterError(...contradictions);
}

/** As errors show a value: a chain by its name, a time in milliseconds. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'object' && value !== null && 'key' in value) return value.key;
  return value ?? null;
}
