import { getOrCompute, systemClock } from '@chainstead/core';
import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { ApiApp, ApiContext } from '../api-context.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { requireIndexes } from '../errors/api-error.ts';
import { requesterOf } from '../limits/on-demand-budget.ts';
import { indexedChain, type NeededDataset } from '../parameters/indexed-chains.ts';
import { foldLists, type Parameters } from '../parameters/parameters.ts';
import { type BodyBounds, bodyBounds } from '../requests/body-bounds.ts';
import {
  type DocumentedStatus,
  errorResponses,
  refuseInvalid,
  type Validation,
} from '../requests/error-answer.ts';
import { createMissingIndexes } from './missing-indexes.ts';
import { type ParameterList, type Shape, shapeOf, type ValuesOf } from './request-values.ts';

/** What a route and a list have in common. */
export interface Operation<Sent> {
  /** @default get, with a body post */
  readonly method?: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** The router's form of the path, if it differs: `{address{0[xX][^/]*}}`. */
  readonly routedPath?: string;
  readonly operationId?: string;
  /** Groups operations in the document. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Brings other names of parameters that clients use to the documented ones. */
  spelled?(query: Values): Values;
  /** As a function for one with the API's chains. */
  readonly body?: z.ZodType<Sent> | ((parameters: Parameters) => z.ZodType<Sent>);
  readonly bodyBounds?: BodyBounds;
  /** Throws the error of the route's own form for parameters that don't parse. @default {@link refuseInvalid} */
  readonly refuseInvalid?: (result: Validation, c: ApiContext) => undefined;
  /** If one is off, the response is the 400 of `indexedChain`. */
  readonly datasets?: readonly NeededDataset[];
  /** The response is 503 while one is missing: without it, a request would read a whole table. */
  readonly indexes?: readonly string[];
  /** @default true */
  needsIndexes?(values: Values): boolean;
  /** `answer` returns them as a `Response`. */
  readonly otherResponses?: RouteConfig['responses'];
  /** In addition to 401, 500, 503, 400 for invalid parameters, and 429. */
  readonly errors?: readonly DocumentedStatus[];
  /** All of them, for a route that reads no data. */
  readonly onlyErrors?: readonly DocumentedStatus[];
  /** Without a key. @default false */
  readonly isOpen?: boolean;
  /** @default true */
  readonly hasRateLimit?: boolean;
}

/** What every route can use, next to the values of its request. */
export interface RequestContext<Services, Sent> extends Pick<ApiDependencies, 'database' | 'reads' | 'logger'> {
  /** What the package's routes share, made by the program. */
  readonly services: Services;
  readonly api: ApiDependencies;
  readonly c: ApiContext;
  /** The key's id, or `open`: its budget pays for node calls. */
  readonly requester: string;
  readonly body: Sent;
}

export interface Route<Services, Params extends ParameterList, Query extends ParameterList, Sent, Body>
  extends Operation<Sent> {
  readonly params?: Params;
  readonly query?: Query;
  /** Absent: every response is an error. */
  readonly response?: {
    readonly description: string;
    readonly schema: z.ZodType<Body>;
    /** @default 200 */
    readonly status?: 200 | 201 | 202;
  };
  answer(
    given: ValuesOf<Params> & ValuesOf<Query> & RequestContext<Services, Sent>,
  ): Promise<NoInfer<Body> | Response>;
}

/** Adds operations to an API, once, when the API is created. */
export type RouteOf<Services> = (app: ApiApp, api: ServedBy<Services>) => void;

export type ServedBy<Services> = ApiDependencies & { readonly services: Services };

/** An operation with one answer. Pages: `defineListRoute`. */
export function defineRoute<
  Services,
  Body,
  const Params extends ParameterList = [],
  const Query extends ParameterList = [],
  Sent = undefined,
>(route: Route<Services, Params, Query, Sent, Body>): RouteOf<Services> {
  const status = route.response?.status ?? 200;
  return (app, api) =>
    addOperation(app, api, route, async (request) => {
      const values = { ...request.params, ...request.parse(request.sent) };
      const given = request.given(values);
      await request.requireIndexes(values);
      // The compiler can't compute these types while the schemas are parameters.
      const answer = await route.answer(given as never);
      return answer instanceof Response ? answer : request.c.json(answer as object, status);
    });
}

/** Values of parameters by name. */
export type Values = Readonly<Record<string, unknown>>;

interface ReceivedRequest<Services, Sent> {
  readonly c: ApiContext;
  /** Values of the path. */
  readonly params: Values;
  readonly sent: Values;
  /** @throws InvalidParameterError, or the error of `refuseInvalid` */
  parse(sent: Values): Values;
  /** @throws NotIndexedError if the chain or a dataset is off */
  given(values: Values): Values & RequestContext<Services, Sent>;
  /** @throws ApiError (503) if one is missing that the request needs */
  requireIndexes(values: Values): Promise<void>;
}

interface DocumentedOperation<Sent> extends Operation<Sent> {
  readonly params?: ParameterList;
  readonly query?: ParameterList;
  readonly response?: { readonly description: string; readonly schema: z.ZodType; readonly status?: number };
}

export function addOperation<Services, Sent>(
  app: ApiApp,
  api: ServedBy<Services>,
  operation: DocumentedOperation<Sent>,
  respond: (request: ReceivedRequest<Services, Sent>) => Promise<Response>,
): void {
  const { path, routedPath = path, datasets = [], indexes = [] } = operation;
  const body = typeof operation.body === 'function' ? operation.body(api.parameters) : operation.body;
  const { spelled = (query) => query, refuseInvalid: refuse = refuseInvalid } = operation;
  const shape = shapeOf(operation.query ?? [], api.parameters);
  const schema = z.object(shape);
  const document = documentOf(operation, body, shapeOf(operation.params ?? [], api.parameters), shape);
  app.openAPIRegistry.registerPath(document);
  const { database, reads, logger, services, chains } = api;
  const missing = createMissingIndexes(reads, systemClock, indexes);
  const queries = new WeakMap<ApiContext, ReturnType<typeof readQuery>>();
  const readQuery = (c: ApiContext) => {
    // As sent: errors show it.
    const raw = spelled(queryOf(c));
    const sent = foldLists(raw, shape);
    const parse = (given: Values): Values => {
      const parsed = schema.safeParse(given);
      if (!parsed.success)
        refuse({ success: false, target: 'query', error: parsed.error, data: { ...given, ...raw } }, c);
      const values: Values = parsed.data ?? {};
      return 'chain' in shape ? { ...values, chain: values.chain ?? { key: DEFAULT_CHAIN } } : values;
    };
    const values = parse(sent);
    return { sent, parse: (given: Values) => (given === sent ? values : parse(given)) };
  };
  const answer = (c: Context): Promise<Response> =>
    respond({
      c,
      params: operation.params === undefined ? {} : { ...c.req.valid('param') },
      ...getOrCompute(queries, c, () => readQuery(c)),
      async requireIndexes(values) {
        if (indexes.length > 0 && operation.needsIndexes?.(values) !== false) requireIndexes(await missing());
      },
      given: (values) => ({
        ...values,
        ...(isNamed(values.chain) && { chain: indexedChain(chains, values.chain.key, ...datasets) }),
        ...{ database, reads, logger, services, api, c, requester: requesterOf(c) },
        // Not held here, so that a route can release a large body while it waits.
        get body() {
          return (body === undefined ? undefined : c.req.valid('json')) as Sent;
        },
      }),
    });
  const { params, body: validated } = document.request;
  const request = {
    ...(params !== undefined && { params }),
    ...(validated !== undefined && { body: validated }),
  };
  // Errors of the query come before those of the path and the body.
  const middleware: MiddlewareHandler = (c, next) => {
    queries.set(c, readQuery(c));
    return next();
  };
  const routed = { ...document, path: routedPath, request, hide: true, middleware };
  app.openapi(routed, answer as never, refuse as never);
}

const DEFAULT_CHAIN = 'eth';

function isNamed(chain: unknown): chain is { readonly key: string } {
  return typeof chain === 'object' && chain !== null && 'key' in chain && typeof chain.key === 'string';
}

function queryOf(c: ApiContext): Values {
  const entries = Object.entries(c.req.queries()).map(([name, texts]) => [
    name,
    texts.length === 1 ? texts[0] : texts,
  ]);
  return Object.fromEntries(entries);
}

type Context = ApiContext & { readonly req: { valid(target: 'param' | 'json'): object } };

function documentOf<Sent>(
  operation: DocumentedOperation<Sent>,
  body: z.ZodType<Sent> | undefined,
  params: Shape,
  query: Shape,
) {
  const { response, operationId, description } = operation;
  const hasParameters = operation.params !== undefined || operation.query !== undefined;
  const errors = new Set<DocumentedStatus>([401, 500, 503, ...(operation.errors ?? [])]);
  if (hasParameters || body !== undefined) errors.add(400);
  if (operation.hasRateLimit !== false) errors.add(429);
  return createRoute({
    method: operation.method ?? (body === undefined ? 'get' : 'post'),
    path: operation.path,
    ...(operationId !== undefined && { operationId }),
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.isOpen === true && { security: [] }),
    ...(description !== undefined && { description }),
    request: {
      ...(operation.params !== undefined && { params: z.object(params) }),
      ...(operation.query !== undefined && { query: z.object(query) }),
      ...(body !== undefined && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    ...(operation.bodyBounds !== undefined && bodyBounds(operation.bodyBounds)),
    responses: {
      ...(response !== undefined && {
        [response.status ?? 200]: {
          description: response.description,
          content: { 'application/json': { schema: response.schema } },
        },
      }),
      ...operation.otherResponses,
      ...errorResponses(...(operation.onlyErrors ?? errors)),
    },
  });
}
