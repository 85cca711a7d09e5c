import { type RouteModule, withScope } from '@chainstead/http';
import { balanceRoutes } from './balance-routes.ts';
import { coinRoutes } from './coin-routes.ts';
import type { NetworkChoice } from './request-network.ts';
import { transferRoutes } from './transfer-routes.ts';

/**
 * The Aptos routes (docs/provider-contract.md#aptos), for `createApi`. A network or dataset that is not indexed here is refused by name,
 * unless something of it is stored.
 */
export function createAptosRoutes(networks: NetworkChoice): readonly RouteModule[] {
  const routes = [...coinRoutes(networks), ...transferRoutes(networks), ...balanceRoutes(networks)];
  return [withScope('data', routes)];
}
