import { chainKeyOf, checkFullnode, networkOfChain } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import {
  type CheckReport,
  type Clock,
  type Finding,
  findingsOf,
  type OnFinding,
  type Verdict,
  worstVerdict,
} from '@chainstead/core';
import type { UpstreamConfig } from '@chainstead/rpc';
import { checkNode, type KnownBlock, type SampledBlock } from '@chainstead/rpc/pool';
import { datasetsOf } from '@chainstead/sync/datasets';
import type { AptosNetworkConfiguration, ChainConfiguration, Configuration } from '../configuration/index.ts';

export interface NodeReport extends CheckReport {
  /** As in `CHAINS`; `aptos` or `aptos-testnet`. */
  readonly chain: string;
}

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
      .map((one) => async () => {
        if (one.hasNoNodes !== true) return examineChain(options, one.chain, one.upstreams, one.upstreams);
        const finding = findingsOf('nodes').ok(
          'none is set: the head is the last proven block of the era files, and state and token metadata are absent',
        );
        return [{ chain: one.chain.key, name: 'no node', findings: [finding], calls: 0, tookMs: 0 }];
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
    reports.push({ chain: chain.key, ...report });
  }
  if (upstreams.length > 0) return reports;
  const reason = `Chainstead can't read ${chain.key}.`;
  const finding = findingsOf('nodes').bad('none is configured', reason, 'Set RPC_URLS of the chain.');
  return [{ chain: chain.key, name: 'none', findings: [finding], calls: 0, tookMs: 0 }];
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
    reports.push({ chain: chainKeyOf(network), ...report });
  }
  return reports;
}

export interface Examination {
  readonly storage: readonly CheckReport[];
  readonly nodes: readonly NodeReport[];
  /** Sources of history. */
  readonly sources: readonly NodeReport[];
  readonly chains: readonly ChainReport[];
}

export interface ChainReport {
  readonly chain: string;
  readonly datasets: readonly Finding[];
  readonly progress: readonly Finding[];
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'WARNING', bad: 'BAD' };
const MARK_WIDTH = 9;
const SUBJECT_WIDTH = 24;

export function renderExamination(examination: Examination): string {
  const { storage, nodes, sources, chains } = examination;
  const sections = [
    ...storage.map((report) => renderReport(report.name, report)),
    ...[...nodes, ...sources].map((report) => renderReport(`${report.chain}: ${report.name}`, report)),
    ...chains.flatMap(({ chain, datasets, progress }) => [
      `${chain}: datasets\n${datasets.map(renderFinding).join('')}`,
      ...(progress.length === 0 ? [] : [`${chain}: progress\n${progress.map(renderFinding).join('')}`]),
    ]),
    `${verdictOf(examination)}\n`,
  ];
  return sections.join('\n');
}

function renderReport(title: string, { findings, calls, tookMs }: CheckReport): string {
  const effort =
    calls === 0 ? '' : ` (${calls} ${calls === 1 ? 'call' : 'calls'}, ${(tookMs / 1_000).toFixed(1)} s)`;
  return `${title}${effort}\n${findings.map(renderFinding).join('')}`;
}

export function renderFinding({ subject, verdict, found, meaning, remedy }: Finding): string {
  const first = `  ${MARKS[verdict].padEnd(MARK_WIDTH)}${subject.padEnd(SUBJECT_WIDTH)}  ${found}\n`;
  const below = ' '.repeat(MARK_WIDTH + SUBJECT_WIDTH + 4);
  return `${first}${[meaning, remedy].flatMap((text) => (text === null ? [] : [`${below}${text}\n`])).join('')}`;
}

function judged({ storage, nodes, sources, chains }: Examination): readonly Finding[] {
  const reports = [...storage, ...nodes, ...sources].flatMap(({ findings }) => findings);
  return [...reports, ...chains.flatMap(({ progress }) => progress)];
}

function verdictOf(examination: Examination): string {
  const findings = judged(examination);
  const count = (verdict: Verdict): number => findings.filter((finding) => finding.verdict === verdict).length;
  const [warnings, bad] = [count('warning'), count('bad')];
  if (bad === 0 && warnings === 0) return 'All checks passed.';
  const reported = warnings === 1 ? '1 warning' : `${warnings} warnings`;
  if (bad === 0) return `No check failed, ${reported}.`;
  return `${bad === 1 ? '1 check' : `${bad} checks`} failed${warnings === 0 ? '' : `, ${reported}`}.`;
}

export function examinationJson(examination: Examination): Readonly<Record<string, unknown>> {
  const { storage, nodes, sources, chains } = examination;
  const reportJson = ({ name, findings, calls, tookMs }: CheckReport) => {
    return { name, verdict: worstVerdict(findings), calls, took_ms: Math.round(tookMs), findings };
  };
  return {
    verdict: worstVerdict(judged(examination)),
    storage: storage.map(reportJson),
    nodes: nodes.map((report) => ({ chain: report.chain, ...reportJson(report) })),
    sources: sources.map((report) => ({ chain: report.chain, ...reportJson(report) })),
    chains,
  };
}
