import type { RouteModule } from '@chainstead/http';
import { createNetWorthRoute, type NetWorthOptions } from './net-worth-route.ts';
import { createWalletTokensRoute } from './wallet-tokens-route.ts';

export function createWalletValueRoutes(options: NetWorthOptions): readonly RouteModule[] {
  return [createWalletTokensRoute(options), createNetWorthRoute(options)];
}
