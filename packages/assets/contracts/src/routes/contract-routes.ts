import type { RouteModule } from '@chainstead/http';
import { contractsRoute } from './contracts-route.ts';
import { contractEventsRoute } from './events-route.ts';

/** Routes that read contracts of the operator. Before all routes with two parameters in their path: names of contracts and events are free. */
export const contractRoutes: readonly RouteModule[] = [contractsRoute, contractEventsRoute];
