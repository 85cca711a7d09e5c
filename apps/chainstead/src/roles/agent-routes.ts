import { type RouteModule, withScope } from '@chainstead/http';
import { mcpRoute, openSqlReader, type Progress, type SqlReader } from '@chainstead/mcp';
import type { ChainStatus } from '@chainstead/sync/ingest';
import { readStatuses } from '../session/indexed-datasets.ts';
import { chainName } from '../text/chain-name.ts';
import { VERSION } from '../version.ts';
import type { RoleContext } from './role.ts';

/** For agents and the console. Null without a role that can only read. */
export function openSql({ configuration, logger }: RoleContext): SqlReader | null {
  const { analystUrl } = configuration.database;
  return analystUrl === null || !configuration.api.hasAgentSql
    ? null
    : openSqlReader({ url: analystUrl, logger });
}

/** They see the data of the scope `data`. @param routes data routes, which the tools call */
export function agentRoutes(
  context: RoleContext,
  routes: readonly RouteModule[],
  sql: SqlReader | null,
): RouteModule {
  const chains = context.configuration.chains.map(({ chain }) => chain.key);
  const { clock } = context;
  return withScope('data', [
    mcpRoute({ routes, progress: agentProgress(context), chains, clock, sql, version: VERSION }),
  ]);
}

function agentProgress({ configuration, database }: Pick<RoleContext, 'configuration' | 'database'>): Progress {
  const nameOf = (status: ChainStatus): string => chainName(status, configuration.chainRegistry);
  return {
    async status() {
      return (await readStatuses(database, configuration)).map((status) => ({
        chain: nameOf(status),
        chain_id: status.chainId,
        head: status.head,
        indexed_to: status.checkpoint,
        blocks_behind: status.unknownHead === null && status.stored === null ? status.lag : null,
        not_indexed_since: status.stored?.since?.toISOString() ?? null,
        history_from: status.historyStart,
        retained_from: status.retainedFrom,
        is_blocked:
          status.stop !== null ||
          status.stallReason !== null ||
          status.unknownHead !== null ||
          status.stored !== null,
        missing_ranges: status.gaps.length,
        datasets: [...new Set(status.coverage.map(({ dataset }) => dataset))].toSorted(),
        updated_at: status.updatedAt.toISOString(),
      }));
    },
    async gaps() {
      return (await readStatuses(database, configuration)).map((status) => ({
        chain: nameOf(status),
        missing: status.gaps.map(({ dataset, range }) => ({
          dataset,
          from_block: range.from,
          to_block: range.to,
        })),
        indexed: status.coverage.map(({ dataset, range, proof }) => ({
          dataset,
          from_block: range.from,
          to_block: range.to,
          proof,
        })),
      }));
    },
  };
}
