import type { RouteModule } from '@chainstead/http';
import { contractEventsRoute } from './contract-events-route.ts';
import type { ContractLogsOptions } from './contract-log-list.ts';
import { contractLogsRoute } from './contract-logs-route.ts';

/** The routes for contracts' logs, raw and as events of an ABI. */
export function contractLogsRoutes(options: ContractLogsOptions): readonly RouteModule[] {
  return [contractLogsRoute(options), contractEventsRoute(options)];
}
