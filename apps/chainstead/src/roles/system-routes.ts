import { listen } from './listen.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Serves /health, /ready and /metrics apart from the API. @throws ListenError */
export function startSystemRoutes(context: RoleContext, port: number): Promise<RunningRole> {
  const { host } = context.configuration.metrics;
  return listen(context, { routes: [], host, port, servesMetrics: true, isMetricsPort: true });
}
