import { chainKeyOf, checkFullnode, networkOfChain } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import { type CheckReport, type Clock, findingsOf, type OnFinding } from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { checkNode, type KnownBlock, type SampledBlock } from '@chainstead/rpc/pool';
import { datasetsOf } from '@chainstead/sync/datasets';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';
import type { Report } from './report.ts';

export type NodeReport = Report & CheckReport & { readonly chain: string };

export interface ExamineOptions {
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly knownBlocks?: (chain: Chain) => Promise<readonly KnownBlock[]>;
  readonly onFinding?: OnFinding | undefined;
  readonly onBlock?: (chain: Chain, block: SampledBlock) => void;
}

/** Nodes of one chain are examined one by one, as they are compared. */
const CHAINS_AT_ONCE = 4;

export async function examineConfigured(options: ExamineOptions, only: string | null): Promise<NodeReport[]> {
  const { aptos, chainRegistry } = options.configuration;
  const chains = ownChains(options.configuration);
  const wanted = only === null ? null : (chainRegistry.find(only)?.key ?? only);
  const work = [
    ...chains
      .filter(({ chain }) => wanted === null || chain.key === wanted)
      .map((one) => async (): Promise<NodeReport[]> => {
        if (one.hasNoNodes !== true) return examineChain(options, one.chain, one.upstreams, one.upstreams);
        const finding = findingsOf('nodes').ok(
          'none is set: the head is the last proven block of the era files, and state and token metadata are absent',
        );
        return [
          { part: 'nodes', chain: one.chain.key, name: 'no node', findings: [finding], calls: 0, tookMs: 0 },
        ];
      }),
    ...aptos.networks
      .filter(({ network }) => wanted === null || chainKeyOf(network) === wanted)
      .map((network) => () => examineNetwork(options, network, network.fullnodes)),
  ];
  const reports: NodeReport[][] = work.map(() => []);
  const entries = work.entries();
  const workOn = async (): Promise<void> => {
    for (const [index, examine] of entries) reports[index] = await examine();
  };
  await Promise.all(Array.from({ length: CHAINS_AT_ONCE }, workOn));
  return reports.flat();
}

function ownChains({
  chains,
  gateway,
}: Configuration): (Pick<ChainConfiguration, 'chain' | 'upstreams'> &
  Partial<Pick<ChainConfiguration, 'hasNoNodes'>>)[] {
  const indexed = new Set(chains.map(({ chain }) => chain.id));
  return [
    ...chains,
    ...gateway.chains.filter(({ chain, usesPublicUpstreams }) => !indexed.has(chain.id) && !usesPublicUpstreams),
  ];
}

/** Chain and URL need no configuration. @returns null if no chain has this name */
export async function examineUrl(
  options: ExamineOptions,
  chain: string,
  url: string,
): Promise<NodeReport | null> {
  const { configuration } = options;
  const network = networkOfChain(chain);
  if (network !== null) {
    const known = configuration.aptos.networks.find((one) => one.network === network);
    const [report] = await examineNetwork(
      options,
      { network, fullnodes: known?.fullnodes ?? [], apiKey: known?.apiKey ?? null },
      [url],
    );
    return report ?? null;
  }
  const found = configuration.chainRegistry.find(chain);
  if (found === null) return null;
  const configured = [...configuration.chains, ...configuration.gateway.chains];
  const known = configured.find((one) => one.chain.id === found.id)?.upstreams ?? [];
  const upstream = known.find((one) => one.url === url) ?? { url };
  const [report] = await examineChain(options, found, [upstream], known);
  return report ?? null;
}

async function examineChain(
  { configuration, clock, signal, deadlineMs, knownBlocks, onFinding, onBlock }: ExamineOptions,
  chain: Chain,
  upstreams: readonly UpstreamConfig[],
  others: readonly UpstreamConfig[],
): Promise<NodeReport[]> {
  const known = (await knownBlocks?.(chain)) ?? [];
  const datasets = datasetsOf(chain, configuration.datasets);
  const needsTraces = datasets.some(({ wholeBlocks }) =>
    wholeBlocks?.reads(chain).includes('internalTransactions'),
  );
  const reports: NodeReport[] = [];
  for (const upstream of upstreams) {
    const requested = { chain, upstream, others, known, needsTraces };
    const callbacks = { onFinding, onBlock: (block: SampledBlock) => onBlock?.(chain, block) };
    const report = await checkNode({ ...requested, deadlineMs, signal, clock, ...callbacks });
    reports.push({ part: 'nodes', chain: chain.key, ...report });
  }
  if (upstreams.length > 0) return reports;
  const reason = `Chainstead can't read ${chain.key}.`;
  const finding = findingsOf('nodes').bad('none is configured', reason, 'Set RPC_URLS of the chain.');
  return [{ part: 'nodes', chain: chain.key, name: 'none', findings: [finding], calls: 0, tookMs: 0 }];
}

async function examineNetwork(
  { signal, deadlineMs, onFinding }: ExamineOptions,
  { network, fullnodes, apiKey }: Pick<AptosNetworkConfiguration, 'network' | 'fullnodes' | 'apiKey'>,
  urls: readonly string[],
): Promise<NodeReport[]> {
  const reports: NodeReport[] = [];
  for (const url of urls) {
    // A key is for those that it was configured for.
    const key = fullnodes.includes(url) ? apiKey : null;
    const requested = { network, url, apiKey: key, others: fullnodes };
    const report = await checkFullnode({ ...requested, deadlineMs, signal, onFinding });
    reports.push({ part: 'nodes', chain: chainKeyOf(network), ...report });
  }
  return reports;
}
