import type { Chain } from '@chainstead/chains';
import type { JsonValue } from '@chainstead/core';
import { RESULT_BYTES_MAX } from '@chainstead/db';
import { createRoute, type z } from '@hono/zod-openapi';
import type { ApiApp, ApiContext } from '../api-context.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { InvalidParameterError, ResponseTooLargeError } from '../errors/api-error.ts';
import { requesterOf } from '../limits/on-demand-budget.ts';
import { indexedChain, type NeededDataset } from '../parameters/indexed-chains.ts';
import type { Filter, Page, PageRequest } from '../parameters/paging.ts';
import type { Order } from '../parameters/parameters.ts';
import { type DocumentedStatus, errorResponses, isTooLarge, type Validation } from '../requests/error-answer.ts';
import { forOneRow } from '../requests/response-bytes.ts';

type ListFilter = Filter & { readonly chain: string };

interface ListPage<F extends ListFilter, P extends JsonValue, Given> extends RequestedPage<F, P, Given> {
  readonly chain: Chain;
}

interface ListRoute<
  Params extends Shape,
  Query extends ListQueryShape,
  F extends ListFilter,
  P extends JsonValue,
  Found extends FoundPage<P>,
  Body extends object,
  Sent,
> extends ListRequest<Params, Query, F, Sent>,
    ListPages<P, ListPage<F, P, Given<Params, Query, Sent>>, Found, Body> {
  readonly errors?: readonly (404 | 413)[];
  /** If one is off, the response is the 400 of `indexedChain`. */
  readonly datasets: readonly NeededDataset[];
  readonly filter: z.ZodType<F>;
  refusal?(error: InvalidParameterError): Error;
}

/** docs/api/index.md#pages */
export function defineListRoute<
  Params extends Shape,
  Query extends ListQueryShape,
  F extends ListFilter,
  P extends JsonValue,
  Found extends FoundPage<P>,
  Body extends object,
  Sent,
>(app: ApiApp, dependencies: ApiDependencies, list: ListRoute<Params, Query, F, P, Found, Body, Sent>): void {
  const { datasets, errors = [] } = list;
  definePagedRoute(app, dependencies, {
    ...list,
    errors: [400, 401, ...errors, 429, 500, 503],
    prepare: (page) => ({ ...page, chain: indexedChain(dependencies.chains, page.filter.chain, ...datasets) }),
  });
}

const PAGE_SIZE_DEFAULT = 100;

interface PagingQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly order?: Order | undefined;
}

export type Shape = z.core.$ZodShape;
export type ListQueryShape = Shape & { readonly [Name in keyof PagingQuery]: z.ZodType<PagingQuery[Name]> };

export type Given<Params extends Shape, Query extends ListQueryShape, Sent> = z.output<z.ZodObject<Params>> &
  z.output<z.ZodObject<Query>> & { readonly body: Sent };

export interface RequestedPage<F extends Filter, P extends JsonValue, Given> extends Page<F, P> {
  readonly given: Given;
  readonly requester: string;
}

export interface FoundPage<P extends JsonValue> {
  /** The last row and the highest block of the run; absent on the last page. */
  readonly next: { readonly position: P; readonly upperBound: number } | null | undefined;
}

export interface PageEnvelope {
  readonly page: number;
  readonly page_size: number;
  readonly cursor: string | null;
}

export interface ListRequest<
  Params extends Shape,
  Query extends ListQueryShape,
  F extends Filter,
  Sent = unknown,
> {
  readonly path: string;
  readonly routedPath?: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject<Params>;
  readonly query: z.ZodPipe<z.ZodTransform<unknown, unknown>, z.ZodObject<Query>>;
  readonly body?: z.ZodType<Sent>;
  readonly refuseInvalid?: (result: Validation, c: ApiContext) => undefined;
  readonly cursorName: string;
  filterOf(given: Given<Params, Query, Sent>): PageRequest<F>['filter'];
}

interface PendingResponse {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly body: object;
}

export interface ListPages<P extends JsonValue, Opened, Found extends FoundPage<P>, Body extends object> {
  readonly tags: readonly string[];
  readonly response: { readonly description: string; readonly schema: z.ZodType<Body> };
  readonly pending?: PendingResponse;
  readonly position: z.ZodType<P>;
  /** @default 100, or `PAGE_LIMIT_MAX` if that is less */
  readonly limitDefault?: number;
  readonly orderDefault?: Order;
  readonly firstPage: 0 | 1;
  read(page: Opened): Promise<Found | null>;
  present(found: Found, envelope: PageEnvelope, page: Opened): NoInfer<Body>;
}

export interface PageSource<
  F extends Filter,
  P extends JsonValue,
  Given,
  Opened,
  Found extends FoundPage<P>,
  Body extends object,
> extends Omit<ListPages<P, Opened, Found, Body>, 'tags' | 'response'> {
  readonly path: string;
  readonly cursorName: string;
  readonly filter: z.ZodType<F>;
  /** @default false: a page has the limit of its cursor */
  readonly isLimitPerPage?: boolean;
  /** For a cursor of another list or with contradictions. @default unchanged */
  refusal?(error: InvalidParameterError): Error;
  /** Adds data to a page. @throws ApiError if the page does not exist */
  prepare(page: RequestedPage<F, P, Given>): Opened;
}

export interface PagedRoute<
  Params extends Shape,
  Query extends ListQueryShape,
  F extends Filter,
  P extends JsonValue,
  Opened,
  Found extends FoundPage<P>,
  Body extends object,
  Sent,
> extends ListRequest<Params, Query, F, Sent>,
    ListPages<P, Opened, Found, Body>,
    PageSource<F, P, Given<Params, Query, Sent>, Opened, Found, Body> {
  readonly path: string;
  readonly cursorName: string;
  readonly errors: readonly DocumentedStatus[];
}

/** docs/api/index.md#pages. Refuses cursors of another list or with contradicting parameters. */
export function definePagedRoute<
  Params extends Shape,
  Query extends ListQueryShape,
  F extends Filter,
  P extends JsonValue,
  Opened,
  Found extends FoundPage<P>,
  Body extends object,
  Sent,
>(
  app: ApiApp,
  dependencies: PageDependencies,
  list: PagedRoute<Params, Query, F, P, Opened, Found, Body, Sent>,
): void {
  const route = documentOf(list);
  if (list.routedPath !== undefined) app.openAPIRegistry.registerPath(route);
  const routed = list.routedPath === undefined ? route : { ...route, path: list.routedPath, hide: true };
  const answer = answerPages(dependencies, list);
  const respond = (c: Context): Promise<Response> => {
    const { given, cursor, limit, order } = givenOf<Params, Query, Sent>(c, list.body !== undefined);
    return answer(c, given, { cursor, limit, order, filter: list.filterOf(given) });
  };
  // The compiler can't compute the response type while the schemas are parameters.
  app.openapi(routed, respond as never, list.refuseInvalid);
}

type PageDependencies = Pick<ApiDependencies, 'limits' | 'paging' | 'responseBytes'>;

/** For a route whose parameters are read elsewhere. */
export function answerPages<
  F extends Filter,
  P extends JsonValue,
  Given,
  Opened,
  Found extends FoundPage<P>,
  Body extends object,
>(
  { limits, paging, responseBytes }: PageDependencies,
  list: PageSource<F, P, Given, Opened, Found, Body>,
): (c: ApiContext, given: Given, request: PageRequest<F>) => Promise<Response> {
  const { filter, position, firstPage, orderDefault, isLimitPerPage = false } = list;
  const runs = paging.forRoute({
    route: list.cursorName,
    filter,
    position,
    limitDefault: list.limitDefault ?? Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    ...(orderDefault !== undefined && { orderDefault }),
  });
  const open = (request: PageRequest<F>): Page<F, P> => {
    if (isLimitPerPage && request.limit !== undefined)
      return { ...open({ ...request, limit: undefined }), limit: request.limit };
    try {
      return runs.open(request);
    } catch (error) {
      throw error instanceof InvalidParameterError && list.refusal !== undefined ? list.refusal(error) : error;
    }
  };
  return (c, given, request) => {
    const opened = open(request);
    return readFitting(opened, responseBytes, async (fitting) => {
      const page = list.prepare({ ...fitting, given, requester: requesterOf(c) });
      const found = await list.read(page);
      if (found === null && list.pending !== undefined) return c.json(list.pending.body, 202);
      if (found === null) throw new TypeError(`${list.path} has no response for rows that are not there yet`);
      const envelope = {
        page: opened.page + firstPage,
        page_size: opened.limit,
        cursor: found.next ? runs.next({ ...fitting, limit: opened.limit }, found.next) : null,
      };
      return c.json(list.present(found, envelope, page), 200);
    });
  };
}

/** Fewer rows while the response is too large; after a cut page, the next tries twice its rows. */
async function readFitting<F extends Filter, P extends JsonValue>(
  page: Page<F, P>,
  responseBytes: ApiDependencies['responseBytes'],
  read: (page: Page<F, P>) => Promise<Response>,
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

type Context = ApiContext & { readonly req: { valid(target: 'param' | 'query' | 'json'): unknown } };

/** The compiler can't compute the output type while the schemas are parameters. */
function givenOf<Params extends Shape, Query extends ListQueryShape, Sent>(
  c: Context,
  hasBody: boolean,
): PagingQuery & { readonly given: Given<Params, Query, Sent> } {
  const params = c.req.valid('param') as z.output<z.ZodObject<Params>>;
  const query = c.req.valid('query') as z.output<z.ZodObject<Query>> & PagingQuery;
  const body = (hasBody ? c.req.valid('json') : undefined) as Sent;
  const { cursor, limit, order } = query;
  return { given: { ...params, ...query, body }, cursor, limit, order };
}

function documentOf<Params extends Shape, Query extends ListQueryShape, F extends Filter, Sent>(
  list: ListRequest<Params, Query, F, Sent> & {
    readonly tags: readonly string[];
    readonly response: { readonly description: string; readonly schema: z.ZodType };
    readonly pending?: PendingResponse;
    readonly errors: readonly DocumentedStatus[];
  },
) {
  const { body, pending, response } = list;
  return createRoute({
    method: body === undefined ? 'get' : 'post',
    path: list.path,
    operationId: list.operationId,
    tags: [...list.tags],
    summary: list.summary,
    ...(list.description !== undefined && { description: list.description }),
    request: {
      ...(list.params !== undefined && { params: list.params }),
      query: list.query,
      ...(body !== undefined && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: {
      200: { description: response.description, content: { 'application/json': { schema: response.schema } } },
      ...(pending !== undefined && {
        202: {
          description: pending.description,
          content: { 'application/json': { schema: pending.schema, example: pending.body } },
        },
      }),
      ...errorResponses(...list.errors),
    },
  });
}
