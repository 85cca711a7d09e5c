import { type RouteModule, withScope } from '@chainstead/http';
import { balanceRoutes } from './balance-routes.ts';
import { coinRoutes } from './coin-routes.ts';
import type { NetworkChoice } from './parameter.ts';
import { transferRoutes } from './transfer-routes.ts';

/** docs/api/aptos.md#aptos-routes */
export function createAptosRoutes(networks: NetworkChoice): readonly RouteModule[] {
  const routes = [...coinRoutes(networks), ...transferRoutes(networks), ...balanceRoutes(networks)];
  return [withScope('data', routes)];
}
