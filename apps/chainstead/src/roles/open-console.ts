import { chainKeyOf } from '@chainstead/aptos';
import { type Console, type ConsoleOptions, createConsole } from '@chainstead/console';
import { keepOfChains } from '../configuration/index.ts';
import { diskPlaceOf } from '../storage-status-text.ts';
import { VERSION } from '../version.ts';
import { configuredUpstreams, createNodeTest } from './console-upstreams.ts';
import type { RoleContext } from './role.ts';

/** The console of an API process, over the process' own database: its live parts outlive requests. */
export function openConsole(
  context: RoleContext,
  opened: Pick<ConsoleOptions, 'keys' | 'sharedLimits' | 'streams' | 'lookUp'>,
): Promise<Console> {
  const { configuration, database, logger, clock } = context;
  const { aptos, chains } = configuration;
  return createConsole({
    ...opened,
    database,
    configured: configuration.api.keys,
    registry: configuration.chainRegistry,
    chains: chains.map(({ chain }) => chain),
    datasets: configuration.datasets,
    keepOf: keepOfChains(chains),
    endOf: (name) =>
      chains.find(({ chain }) => chain.key === name)?.endBlock ??
      aptos.networks.find(({ network }) => chainKeyOf(network) === name)?.endVersion ??
      null,
    aptos: { networks: aptos.networks.map(({ network }) => network), datasets: aptos.datasets },
    upstreams: configuredUpstreams(configuration),
    nodeTest: createNodeTest(context),
    disk: diskPlaceOf(configuration),
    backfillProofOf: ({ id }) => chains.find(({ chain }) => chain.id === id)?.backfillProof ?? 'none',
    version: VERSION,
    logger,
    clock,
  });
}
