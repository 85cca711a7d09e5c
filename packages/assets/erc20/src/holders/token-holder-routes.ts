import { type RouteModule, withServices } from '@chainstead/http';
import { createHasCodeOf } from '@chainstead/node-reads/account-codes';
import type { ContractServices, Erc20Services } from '../routes.ts';
import { historicalHoldersRoute } from './historical-holders-route.ts';
import { tokenHoldersRoute } from './token-holders-route.ts';
import { tokenOwnersRoute } from './token-owners-route.ts';

type TokenHoldersOptions = ContractServices & Omit<Erc20Services, 'onDemandBackfill'>;

export function tokenHolderRoutes(options: TokenHoldersOptions): readonly RouteModule[] {
  const services = { ...options, hasCodeOf: createHasCodeOf(), unreported: new Set<string>() };
  return [withServices(services, [tokenOwnersRoute, tokenHoldersRoute, historicalHoldersRoute])];
}
