import type { RouteModule } from './api-dependencies.ts';
import type { KeyScope } from './keys/key-scope.ts';

/** Returns the routes of these modules with a required key scope; routes without one require `admin`. */
export function withScope(scope: KeyScope, modules: readonly RouteModule[]): RouteModule {
  return (app, dependencies) => {
    const before = app.routes.length;
    for (const addRoutes of modules) addRoutes(app, dependencies);
    for (const route of app.routes.slice(before)) dependencies.routeScopes.set(route, scope);
  };
}
