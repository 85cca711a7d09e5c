import type { JsonValue } from '@chainstead/core';
import { RESULT_BYTES_MAX } from '@chainstead/db';
import { z } from '@hono/zod-openapi';
import type { ApiDependencies } from '../api-dependencies.ts';
import { InvalidParameterError, ResponseTooLargeError } from '../errors/api-error.ts';
import { booleanParameter, limitParameter, type Order } from '../parameters/parameters.ts';
import { isTooLarge } from '../requests/error-answer.ts';
import { forOneRow } from '../requests/response-bytes.ts';
import { createPages, type Page, type Place } from './cursor-pages.ts';
import { type Indexed, indexedSchema, showIndexed } from './indexed.ts';
import type { ParameterList, ValuesOf } from './request-values.ts';
import { addOperation, type Operation, type RequestContext, type RouteOf, type Values } from './route.ts';
import { schemaOf, showFields, type View } from './view.ts';
import { type Field, type Fields, integer, text } from './wire.ts';

/** What a list reads: some of its rows in order, from where the last page ended. */
interface ListQuery<P> extends BlockRange {
  readonly order: Order;
  readonly limit: number;
  /** Null on the first page. */
  readonly after: P | null;
  /** The highest block of the run: rows of later blocks would shift its pages. Null on the first page. */
  readonly pinnedBlock: number | null;
}

interface PageContext<P> {
  readonly query: ListQuery<P>;
  /** The first request wants the number of all rows. */
  readonly counts: boolean;
}

export interface FoundPage<P extends JsonValue> {
  readonly rows: readonly unknown[];
  /** The last row and the highest block of the run; absent on the last page. */
  readonly next: Place<P> | null | undefined;
  readonly indexed?: Indexed;
  /** Number of all rows, if `counts`; null if they are too many. */
  readonly count?: number | null;
}

/** A page before its JSON. */
interface PageSource<Found, Given> {
  readonly found: Found;
  readonly given: Given;
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
  readonly total: number | null;
}

type StandardFields<Found, Given> = Readonly<
  Record<'page' | 'page_size' | 'cursor' | 'indexed' | 'result', Field<PageSource<Found, Given>>>
>;

interface PendingResponse {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly body: object;
}

export interface ListRoute<
  Services,
  P extends JsonValue,
  Found extends FoundPage<P>,
  Shown extends readonly unknown[] | [],
  Params extends ParameterList,
  Query extends ParameterList,
  Sent,
  Given = ValuesOf<Params> & ValuesOf<Query> & RequestContext<Services, Sent> & PageContext<P>,
> extends Operation<Sent> {
  readonly operationId: string;
  readonly params?: Params;
  /** `cursor` is one of every list. */
  readonly query?: Query;
  /** The schema's name in the document. @default none */
  readonly name?: string;
  readonly response: string;
  /** A row's place in its order, for the cursor. */
  readonly position: z.ZodType<P>;
  /** @default 100, or `PAGE_LIMIT_MAX` if that is less */
  readonly limitDefault?: number;
  /** @default `PAGE_LIMIT_MAX` */
  readonly limitMax?: number;
  /** @default false: a page has the limit of its cursor */
  readonly isLimitPerPage?: boolean;
  /** @default DESC */
  readonly orderDefault?: Order;
  readonly firstPage: 0 | 1;
  /** Adds `disable_total` and `total`: `read` counts if `counts`. @default false */
  readonly hasTotal?: boolean;
  /** Where other parameters bound the blocks: values of `from_block` and so on. */
  bounds?(values: Values): Values;
  /** Values of the body that later pages must repeat. */
  binds?(body: Sent): Readonly<Record<string, JsonValue>>;
  /** For a cursor of another list or with contradictions. @default unchanged */
  refusal?(error: InvalidParameterError): Error;
  /** While `read` returns null: 202. */
  readonly pending?: PendingResponse;
  read(given: Given): Promise<Found | null>;
  readonly view: View<Shown>;
  /** What the view shows of a row. */
  row(row: NoInfer<Found>['rows'][number], found: NoInfer<Found>, given: Given): NoInfer<Shown>;
  /** The members of a page in their order. @default all standard ones */
  fields?(standard: StandardFields<NoInfer<Found>, Given>): Fields<PageSource<NoInfer<Found>, Given>>;
}

const PAGE_SIZE_DEFAULT = 100;

const TOTAL = {
  disable_total: booleanParameter({
    default: true,
    description: 'false returns the total number of rows, counted up to 10,000.',
  }),
};

/** A list in pages. docs/api/index.md#pages */
export function defineListRoute<
  Services,
  P extends JsonValue,
  Found extends FoundPage<P> = never,
  Shown extends readonly unknown[] | [] = never,
  const Params extends ParameterList = [],
  const Query extends ParameterList = [],
  Sent = undefined,
>(list: ListRoute<Services, P, Found, Shown, Params, Query, Sent>): RouteOf<Services> {
  return (app, api) => {
    const { limitDefault, query } = queryOf(list, api.limits.pageLimitMax);
    const pages = createPages({ ...list, limitDefault }, api.cursors, api.shown);
    const { pending, firstPage } = list;
    const fields = fieldsOf(list);
    const show = showFields(fields);
    const operation = {
      ...list,
      query,
      response: {
        description: list.response,
        schema: list.name === undefined ? schemaOf(fields) : schemaOf(fields).openapi(list.name),
      },
      otherResponses: { ...list.otherResponses, ...(pending !== undefined && { 202: pendingResponse(pending) }) },
    };
    addOperation<Services, Sent>(app, api, operation, async (request) => {
      const { c, params, sent, parse } = request;
      const body = list.binds?.(request.given({}).body);
      const { page, values } = pages.open({ bound: { ...params, ...body }, sent, parse });
      const given = request.given({ ...values, ...params });
      const range = blockRangeOf(list.bounds?.(values) ?? values);
      await request.requireIndexes(values);
      return readFitting(page, api.responseBytes, async (fitting) => {
        const counts = page.position === null && values.disable_total === false;
        // The compiler can't compute these types while the schemas are parameters.
        const { order, limit, position: after, upperBound: pinnedBlock } = fitting;
        const opened = { ...given, query: { ...range, order, limit, after, pinnedBlock }, counts } as never;
        const found = await list.read(opened);
        if (found === null && pending !== undefined) return c.json(pending.body, 202);
        if (found === null) throw new TypeError(`${list.path} has no response for rows that are not there yet`);
        const count = found.count ?? page.count;
        const cursor = found.next ? pages.next({ ...fitting, limit: page.limit, count }, found.next) : null;
        const envelope = { page: page.number + firstPage, pageSize: page.limit, cursor };
        return c.json(show({ found, given: opened, ...envelope, total: totalOf(page, found, count) }), 200);
      });
    });
  };
}

function pendingResponse({ description, schema, body }: PendingResponse) {
  return { description, content: { 'application/json': { schema, example: body } } };
}

function queryOf(
  list: {
    readonly query?: ParameterList;
    readonly limitDefault?: number;
    readonly limitMax?: number;
    readonly hasTotal?: boolean;
  },
  pageLimitMax: number,
): { readonly query: ParameterList; readonly limitDefault: number } {
  const limitMax = Math.min(list.limitMax ?? pageLimitMax, pageLimitMax);
  const limitDefault = list.limitDefault ?? Math.min(PAGE_SIZE_DEFAULT, limitMax);
  const named = (list.query ?? []).map((item) =>
    item === 'limit' ? { limit: limitParameter(limitDefault, limitMax) } : item,
  );
  return { query: [...named, 'cursor', ...(list.hasTotal === true ? [TOTAL] : [])], limitDefault };
}

function fieldsOf<Found extends FoundPage<JsonValue>, Shown extends readonly unknown[] | [], Given>(list: {
  readonly firstPage: 0 | 1;
  readonly hasTotal?: boolean;
  readonly view: View<Shown>;
  row(row: Found['rows'][number], found: Found, given: Given): Shown;
  fields?(standard: StandardFields<Found, Given>): Fields<PageSource<Found, Given>>;
}): Fields<PageSource<Found, Given>> {
  const { firstPage, view } = list;
  const standard: StandardFields<Found, Given> = {
    ...(list.hasTotal === true && { total: TOTAL_FIELD }),
    page: {
      schema: z
        .int()
        .min(firstPage)
        .openapi({ description: `Page number, from ${firstPage}` }),
      value: ({ page }) => page,
    },
    page_size: { schema: z.int().min(1), value: ({ pageSize }) => pageSize },
    cursor: text.orNull('Cursor of the next page. null on the last page', ({ cursor }) => cursor),
    indexed: { schema: indexedSchema, value: ({ found: { indexed } }) => indexed && showIndexed(indexed) },
    result: {
      schema: z.array(view.schema),
      value: ({ found, given }) => found.rows.map((row) => view.show(...list.row(row, found, given))),
    },
  };
  return list.fields?.(standard) ?? standard;
}

const TOTAL_FIELD = integer.orNull(
  'Total number of rows if known, otherwise null',
  ({ total }: { readonly total: number | null }) => total,
);

/** Exact on the last page; before it the first count. Null while blocks are missing, or after a page was cut. */
function totalOf<P>(
  page: Page<P>,
  { indexed, rows, next }: FoundPage<JsonValue>,
  counted: number | null,
): number | null {
  if (indexed?.complete !== true) return null;
  const { number, limit, cutTo } = page;
  if (!next && cutTo === null) return number * limit + rows.length;
  return counted !== null && (cutTo !== null || counted > (number + 1) * limit) ? counted : null;
}

/** Fewer rows while the response is too large; after a cut page, the next tries twice its rows. */
async function readFitting<P>(
  page: Page<P>,
  responseBytes: ApiDependencies['responseBytes'],
  read: (page: Page<P>) => Promise<Response>,
): Promise<Response> {
  const first = page.cutTo === null ? page.limit : Math.min(page.limit, 2 * page.cutTo);
  for (let limit = first; ; ) {
    const cutTo = limit < page.limit ? limit : page.cutTo;
    try {
      return await responseBytes.attempt(() => {
        const readPage = () => read({ ...page, limit, cutTo });
        return limit === 1 ? forOneRow(readPage) : readPage();
      });
    } catch (error) {
      if (limit === 1 || !isTooLarge(error)) throw error;
      const size = error instanceof ResponseTooLargeError ? error.bytes : null;
      const fitting = size === null ? limit : Math.floor((limit * RESULT_BYTES_MAX) / size);
      limit = Math.max(1, Math.min(Math.ceil(limit / 2), fitting));
    }
  }
}

interface BlockRange {
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly fromDate: Date | null;
  readonly toDate: Date | null;
}

const boundsShape = z.object({
  from_block: z.number().optional(),
  to_block: z.number().optional(),
  from_date: z.date().optional(),
  to_date: z.date().optional(),
});

/** A block wins over a date (docs/api/index.md#blocks-and-dates). @throws InvalidParameterError for a reversed range */
function blockRangeOf(values: Values): BlockRange {
  const given = boundsShape.parse(values);
  const range = {
    fromBlock: given.from_block ?? null,
    toBlock: given.to_block ?? null,
    fromDate: given.from_block === undefined ? (given.from_date ?? null) : null,
    toDate: given.to_block === undefined ? (given.to_date ?? null) : null,
  };
  refuseReversed('block', range.fromBlock, range.toBlock, String);
  refuseReversed('date', range.fromDate, range.toDate, (date) => date.toISOString());
  return range;
}

function refuseReversed<Bound extends number | Date>(
  kind: string,
  from: Bound | null,
  to: Bound | null,
  write: (bound: Bound) => string,
): void {
  if (from === null || to === null || from <= to) return;
  throw new InvalidParameterError({
    parameter: `from_${kind}`,
    given: write(from),
    allowed: `at most to_${kind} (${write(to)})`,
  });
}
