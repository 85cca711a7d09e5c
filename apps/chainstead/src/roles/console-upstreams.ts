import { basename } from 'node:path';
import { chainKeyOf, nameFullnodes } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { ConsoleOptions } from '@chainstead/console';
import { nameUpstreams } from '@chainstead/rpc/pool';
import { readKnownBlocks } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { examineUrl } from '../doctor/examine-nodes.ts';
import type { RoleContext } from './role.ts';

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
