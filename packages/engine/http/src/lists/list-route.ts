import type { Chain } from '@chainstead/chains';
import type { JsonValue } from '@chainstead/core';
import type { z } from '@hono/zod-openapi';
import type { ApiApp } from '../api-context.ts';
import type { ApiDependencies } from '../api-dependencies.ts';
import type { InvalidParameterError } from '../errors/api-error.ts';
import { indexedChain, type NeededDataset } from '../parameters/indexed-chains.ts';
import type { Filter } from '../parameters/paging.ts';
import {
  definePagedRoute,
  type FoundPage,
  type Given,
  type ListPages,
  type ListQueryShape,
  type ListRequest,
  type RequestedPage,
  type Shape,
} from './paged-route.ts';

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
