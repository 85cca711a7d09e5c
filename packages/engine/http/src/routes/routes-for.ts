import type { JsonValue } from '@chainstead/core';
import type { RouteModule } from '../api-dependencies.ts';
import { defineListRoute, type FoundPage, type ListRoute } from './list-route.ts';
import type { ParameterList } from './request-values.ts';
import { defineRoute, type Route, type RouteOf } from './route.ts';

/** Routes of a package, with what they share. */
export function routesFor<Services>() {
  return {
    defineRoute: <
      Body,
      const Params extends ParameterList = [],
      const Query extends ParameterList = [],
      Sent = undefined,
    >(
      route: Route<Services, Params, Query, Sent, Body>,
    ): RouteOf<Services> => defineRoute(route),
    defineListRoute: <
      P extends JsonValue,
      Found extends FoundPage<P> = never,
      Shown extends readonly unknown[] | [] = never,
      const Params extends ParameterList = [],
      const Query extends ParameterList = [],
      Sent = undefined,
    >(
      list: ListRoute<Services, P, Found, Shown, Params, Query, Sent>,
    ): RouteOf<Services> => defineListRoute(list),
  };
}

/** Gives routes what they share: queues of node reads, on-demand backfills, price readers. */
export function withServices<Services>(services: Services, routes: readonly RouteOf<Services>[]): RouteModule {
  return (app, dependencies) => {
    for (const addRoutes of routes) addRoutes(app, { ...dependencies, services });
  };
}
