import { basename } from 'node:path';
import { chainKeyOf, nameFullnodes } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { ConsoleOptions } from '@chainstead/console';
import { type RouteModule, withScope } from '@chainstead/http';
import { mcpRoute, openSqlReader, type Progress, type SqlReader } from '@chainstead/mcp';
import { nameUpstreams } from '@chainstead/rpc/pool';
import { type ChainStatus, readKnownBlocks } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { examineUrl } from '../doctor/examine-nodes.ts';
import { readStatuses } from '../session/chain-session.ts';
import { chainName } from '../text/text-table.ts';
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

const TEST_MS = 20_000;

export function configuredUpstreams({ chains, gateway, aptos }: Configuration): ConsoleOptions['upstreams'] {
  const byChain = new Map([...gateway.chains, ...chains].map((one) => [one.chain.key, one.upstreams]));
  const evm = [...byChain].flatMap(([chain, upstreams]) => {
    const names = nameUpstreams(upstreams);
    return upstreams.map(({ url, requestsPerSecond, concurrency, isPrivate }, index) => ({
      chain,
      name: names[index] ?? '',
      address: `${new URL(url).protocol}//${names[index] ?? ''}`,
      requestsPerSecond: requestsPerSecond ?? null,
      concurrency: concurrency ?? null,
      isPrivate: isPrivate ?? false,
    }));
  });
  const fullnodes = aptos.networks.flatMap(({ network, fullnodes: urls }) =>
    nameFullnodes(urls).map(({ name }) => ({
      ...{ chain: chainKeyOf(network), name, address: name, isPrivate: false },
      ...{ requestsPerSecond: null, concurrency: null },
    })),
  );
  // Named as their pool names them.
  const eraFolders = chains
    .filter(({ hasNoNodes }) => hasNoNodes)
    .map(({ chain, history }) => ({
      chain: chain.key,
      name: history.map(({ place }) => `era ${basename(place)}`).join(', '),
      address: history.map(({ place }) => `era:${place}`).join(', '),
      ...{ requestsPerSecond: null, concurrency: null, isPrivate: false },
    }));
  return [...evm, ...fullnodes, ...eraFolders];
}

export function createNodeTest({ configuration, database, clock }: RoleContext): ConsoleOptions['nodeTest'] {
  const own = [...configuration.chains, ...configuration.gateway.chains].map(({ chain }) => chain.key);
  const known = configuration.chainRegistry.all().map(({ key }) => key);
  return {
    chains: [...new Set([...own, ...known, chainKeyOf('mainnet'), chainKeyOf('testnet')])],
    run: (chain, url, onFinding) => {
      const knownBlocks = async ({ id }: Pick<Chain, 'id'>) => {
        const blocks = await readKnownBlocks(database, id);
        return blocks.map((block) => ({ ...block, source: 'indexed data' }));
      };
      const limits = { signal: AbortSignal.timeout(TEST_MS), deadlineMs: TEST_MS };
      return examineUrl({ configuration, clock, ...limits, onFinding, knownBlocks }, chain, url);
    },
  };
}
