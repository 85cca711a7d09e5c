import type { RouteModule } from '@chainstead/http';
import { contractsRoute } from './contracts-route.ts';
import { contractEventsRoute } from './events-route.ts';

/** Must come before routes with two path parameters: names of contracts are free. */
export const contractRoutes: readonly RouteModule[] = [contractsRoute, contractEventsRoute];
