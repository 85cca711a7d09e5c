import { type RouteModule, withScope } from '@chainstead/http';
import { mcpRoute, openSqlReader } from '@chainstead/mcp';
import { VERSION } from '../version.ts';
import { agentProgress } from './agent-progress.ts';
import type { RoleContext } from './role.ts';

/** They see the data of the scope `data`. @param routes data routes, which the tools call */
export function agentRoutes(context: RoleContext, routes: readonly RouteModule[]): RouteModule {
  const { mcpDatabaseUrl } = context.configuration.api;
  const sql = mcpDatabaseUrl === null ? null : openSqlReader({ url: mcpDatabaseUrl, logger: context.logger });
  const chains = context.configuration.chains.map(({ chain }) => chain.key);
  const { clock } = context;
  return withScope('data', [
    mcpRoute({ routes, progress: agentProgress(context), chains, clock, sql, version: VERSION }),
  ]);
}
