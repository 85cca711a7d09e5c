import type { OnDemandBackfill } from '@chainstead/data-api';
import type { RouteModule } from '@chainstead/http';

/** Routes of profit and loss. */
export function createProfitRoutes(_context: { readonly onDemandBackfill: OnDemandBackfill }): readonly RouteModule[] {
  return [];
}
