import type { RouteModule } from '@chainstead/http';
import { contractEventsRoute } from './contract-events-route.ts';
import { contractLogsRoute } from './contract-logs-route.ts';
import type { ContractLogsOptions } from './open-logs-page.ts';

/** What contracts emitted: their logs, and as events of an ABI. */
export function contractLogsRoutes(options: ContractLogsOptions): readonly RouteModule[] {
  return [contractLogsRoute(options), contractEventsRoute(options)];
}
