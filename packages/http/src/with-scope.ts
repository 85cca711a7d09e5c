import type { KeyScope } from './key-scope.ts';
import type { RouteModule } from './route-module.ts';

/** The routes of these modules ask for keys with the scope; routes without any ask for `admin`. */
export function withScope(scope: KeyScope, modules: readonly RouteModule[]): RouteModule {
  return (app, dependencies) => {
    const before = app.routes.length;
    for (const addRoutes of modules) addRoutes(app, dependencies);
    for (const route of app.routes.slice(before)) dependencies.routeScopes.set(route, scope);
  };
}
