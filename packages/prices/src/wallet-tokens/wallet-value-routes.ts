import type { RouteModule } from '@chainstead/http';
import { createNetWorthRoute, type NetWorthOptions } from './net-worth-route.ts';
import { createWalletTokensRoute } from './wallet-tokens-route.ts';

/** Routes of a wallet's tokens with their values, and of its net worth. */
export function createWalletValueRoutes(options: NetWorthOptions): readonly RouteModule[] {
  return [createWalletTokensRoute(options), createNetWorthRoute(options)];
}
