import type { Chain } from '@chainstead/chains';
import { createRoute, type RouteConfig, z } from '@hono/zod-openapi';
import type { ApiApp, ApiContext } from '../api-context.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import { requesterOf } from '../limits/on-demand-budget.ts';
import { indexedChain, type NeededDataset } from '../parameters/indexed-chains.ts';
import { querySchema } from '../parameters/parameters.ts';
import { type BodyBounds, bodyBounds } from '../requests/body-bounds.ts';
import { type DocumentedStatus, errorResponses, type Validation } from '../requests/error-answer.ts';
import type { Shape } from './list-route.ts';

type Output<S extends Shape> = keyof S extends never ? unknown : z.output<z.ZodObject<S>>;

/** `chain` becomes the chain itself: `eth` if the request names none. */
type Given<Params extends Shape, Query extends Shape, Lists extends Shape, Sent> = Output<Params> &
  (Query extends { readonly chain: unknown }
    ? Omit<Output<Query>, 'chain'> & { readonly chain: Chain }
    : Output<Query>) &
  Output<Lists> & { readonly body: Sent; readonly requester: string; readonly c: ApiContext };

export interface Route<Params extends Shape, Query extends Shape, Lists extends Shape, Sent, Body> {
  /** @default get, with a body post */
  readonly method?: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly operationId?: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Parameters of the query that may be given several times. */
  readonly lists?: Lists;
  readonly body?: z.ZodType<Sent>;
  readonly bodyBounds?: BodyBounds;
  readonly refuseInvalid?: (result: Validation, c: ApiContext) => undefined;
  /** If one is off, the response is the 400 of `indexedChain`. */
  readonly datasets?: readonly NeededDataset[];
  /** Absent: every response is an error. */
  readonly response?: {
    readonly description: string;
    readonly schema: z.ZodType<Body>;
    /** @default 200 */
    readonly status?: 200 | 201 | 202;
  };
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
  answer(given: Given<Params, Query, Lists, Sent>): Promise<NoInfer<Body> | Response>;
}

type None = Record<never, never>;

/** A route with one answer. Pages of lists: {@link defineListRoute}. */
export function defineRoute<
  Body,
  Params extends Shape = None,
  Query extends Shape = None,
  Lists extends Shape = None,
  Sent = undefined,
>(
  app: ApiApp,
  { chains }: Pick<ApiDependencies, 'chains'>,
  route: Route<Params, Query, Lists, Sent, Body>,
): void {
  const { datasets = [], response, body } = route;
  const status = response?.status ?? 200;
  const { params, query, method = body === undefined ? 'get' : 'post' } = route;
  const hasQuery = query !== undefined || route.lists !== undefined;
  const errors = new Set<DocumentedStatus>([401, 500, 503, ...(route.errors ?? [])]);
  if (hasQuery || params !== undefined || body !== undefined) errors.add(400);
  if (route.hasRateLimit !== false) errors.add(429);
  const document = createRoute({
    method,
    path: route.path,
    ...(route.operationId !== undefined && { operationId: route.operationId }),
    tags: [...route.tags],
    summary: route.summary,
    ...(route.isOpen === true && { security: [] }),
    ...(route.description !== undefined && { description: route.description }),
    request: {
      ...(params !== undefined && { params: z.object(params) }),
      ...(hasQuery && { query: querySchema(query ?? {}, route.lists) }),
      ...(body !== undefined && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    ...(route.bodyBounds !== undefined && bodyBounds(route.bodyBounds)),
    responses: {
      ...(response !== undefined && {
        [status]: {
          description: response.description,
          content: { 'application/json': { schema: response.schema } },
        },
      }),
      ...route.otherResponses,
      ...errorResponses(...(route.onlyErrors ?? errors)),
    },
  });
  const respond = async (c: Context): Promise<Response> => {
    const asked = hasQuery ? c.req.valid('query') : {};
    const named = asked as { readonly chain?: { readonly key: string } | undefined };
    const given = {
      ...(params === undefined ? {} : c.req.valid('param')),
      ...asked,
      ...(query !== undefined &&
        'chain' in query && { chain: indexedChain(chains, named.chain?.key ?? DEFAULT_CHAIN, ...datasets) }),
      // Not held here, so that a route can release a large body while it waits.
      get body() {
        return body === undefined ? undefined : c.req.valid('json');
      },
      requester: requesterOf(c),
      c,
    };
    // The compiler can't compute these types while the schemas are parameters.
    const answer = await route.answer(given as never);
    return answer instanceof Response ? answer : c.json(answer as object, status);
  };
  app.openapi(document, respond as never, route.refuseInvalid);
}

const DEFAULT_CHAIN = 'eth';

type Context = ApiContext & { readonly req: { valid(target: 'param' | 'query' | 'json'): object } };
