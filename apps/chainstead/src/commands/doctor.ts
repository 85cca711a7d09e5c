import type { Chain } from '@chainstead/chains';
import { defineError, type Finding, findingsOf, worstVerdict } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { fetchChainId, type KnownBlock, type SampledBlock } from '@chainstead/rpc/pool';
import { type ChainStatus, readKnownBlocks } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { type ProgressByChain, progressText, readDatasetProgress } from '../dataset-progress/dataset-progress.ts';
import { datasets as known } from '../datasets/registry.ts';
import { datasetCosts } from '../doctor/dataset-costs.ts';
import {
  type ChainReport,
  type Examination,
  type ExamineOptions,
  examinationJson,
  examineConfigured,
  examineUrl,
  type NodeReport,
  renderExamination,
} from '../doctor/examine-nodes.ts';
import { examineSources } from '../doctor/examine-sources.ts';
import { examineStorage } from '../doctor/examine-storage.ts';
import { UsageError } from '../errors/usage-error.ts';
import { readStatuses } from '../session/chain-session.ts';
import type { CommandContext, Invocation, JsonOption } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';

const DEADLINE_MS = 120_000;
const IDENTITY_MS = 10_000;

interface DoctorOptions extends JsonOption {
  readonly chain?: string;
  readonly url?: string;
}

class ExaminationFailedError extends defineError('EXAMINATION_FAILED', (bad: readonly string[]) => ({
  message: `Checks failed: ${bad.join(', ')}`,
  facts: { bad },
  remedy: 'Apply the fixes listed above',
})) {}

/** @throws ExaminationFailedError after writing the findings; ConfigurationError, UsageError */
export async function examine({ options, command, context }: Invocation<DoctorOptions>): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  const { url } = options;
  if (url !== undefined && !/^(https?|wss?):\/\//.test(url))
    throw new UsageError(
      '--url is not a node URL',
      'Use a URL that starts with http://, https://, ws:// or wss://',
    );
  const examination = await examineAll(options, configuration, context);
  context.stdout.write(
    options.json === true ? `${JSON.stringify(examinationJson(examination))}\n` : renderExamination(examination),
  );
  const { storage, nodes, sources, chains } = examination;
  const reports = [
    ...storage,
    ...nodes,
    ...sources,
    ...chains.map((one) => ({ name: one.chain, findings: one.progress })),
  ];
  const bad = reports.filter(({ findings }) => worstVerdict(findings) === 'bad');
  if (bad.length > 0) throw new ExaminationFailedError(bad.map(({ name }) => name));
}

async function examineAll(
  { chain, url }: DoctorOptions,
  configuration: Configuration,
  context: CommandContext,
): Promise<Examination> {
  const { clock, stopSignal: signal } = context;
  const sample = new Map<string, SampledBlock[]>();
  const onBlock = ({ key }: Chain, block: SampledBlock): void => {
    sample.set(key, [...(sample.get(key) ?? []), block]);
  };
  const examining: ExamineOptions = { configuration, clock, signal, deadlineMs: DEADLINE_MS, onBlock };
  if (url !== undefined) {
    const nodes = [await examineOne(examining, chain, url)];
    return { storage: [], nodes, sources: [], chains: [] };
  }
  if (chain !== undefined) {
    const nodes = await examineConfigured(examining, chain);
    const key = configuration.chainRegistry.find(chain)?.key;
    const chains = examineDatasets(configuration, sample).filter((report) => report.chain === key);
    const sources = await examineSources(examining, key ?? chain);
    if (nodes.length > 0) return { storage: [], nodes, sources, chains };
    throw new UsageError(
      `No node for ${chain} is configured`,
      'Use a name from CHAINS, or pass a node with --url',
      {
        chain,
      },
    );
  }
  const logger = commandLogger(configuration, context);
  const { reports, value } = await examineStorage({ configuration, logger, clock }, async (examined) => {
    const known = examined === null ? {} : { knownBlocks: knownBlocksOf(examined.database) };
    const nodes = await examineConfigured({ ...examining, ...known }, null);
    const sources = await examineSources(examining, null);
    const standing =
      examined?.isCurrent === true ? await readStanding(examined.database, configuration) : undefined;
    return { nodes, sources, chains: examineDatasets(configuration, sample, standing) };
  });
  return { storage: reports, ...value };
}

async function examineOne(
  examining: ExamineOptions,
  given: string | undefined,
  url: string,
): Promise<NodeReport> {
  const id = given === undefined && url.startsWith('http') ? await fetchChainId({ url }, IDENTITY_MS) : null;
  const reported = id === null ? null : (examining.configuration.chainRegistry.find(id)?.key ?? null);
  const chain = given ?? reported;
  const report = chain === null ? null : await examineUrl(examining, chain, url);
  if (report !== null) return report;
  throw new UsageError(
    given === undefined
      ? 'The node reports no chain ID, or the ID of an unknown chain'
      : `Unknown chain ${given}`,
    'Use --chain with a name from .env.example, or add the chain with CHAINS=<name> and CHAIN_ID_<NAME>',
  );
}

interface Standing {
  readonly statuses: readonly ChainStatus[];
  readonly progress: ProgressByChain;
}

async function readStanding(database: Database, configuration: Configuration): Promise<Standing> {
  const statuses = await readStatuses(database, configuration);
  return { statuses, progress: await readDatasetProgress(database, configuration, statuses) };
}

/** A stored message contains its remedy. */
function stopFindings(status: ChainStatus | undefined): readonly Finding[] {
  if (status === undefined || status.stop === null) return [];
  const { code, message } = status.stop;
  return [findingsOf('stopped').bad(code, message, 'The running program retries the chain every minute.')];
}

function knownBlocksOf(database: Database): NonNullable<ExamineOptions['knownBlocks']> {
  return async (chain): Promise<readonly KnownBlock[]> => {
    const [table] = await database.query<{ exists: boolean }>(
      sql`SELECT to_regclass('blocks') IS NOT NULL AS exists`,
    );
    if (table?.exists !== true) return [];
    const blocks = await readKnownBlocks(database, chain.id);
    return blocks.map((block) => ({ ...block, source: 'indexed data' }));
  };
}

/** @param sample whole blocks by chain key */
function examineDatasets(
  { chains, datasets }: Pick<Configuration, 'chains' | 'datasets'>,
  sample: ReadonlyMap<string, readonly SampledBlock[]>,
  { statuses, progress }: Standing = { statuses: [], progress: new Map() },
): readonly ChainReport[] {
  const configured = new Set(datasets.map(({ name }) => name));
  return chains.map(({ chain }) => ({
    chain: chain.key,
    datasets: datasetCosts({ chain, known, configured, sample: sample.get(chain.key) ?? [] }),
    progress: [
      ...stopFindings(statuses.find(({ chainId }) => chainId === chain.id)),
      ...(progress.get(chain.id) ?? []).map((one) => findingsOf(one.subject).ok(progressText(one))),
    ],
  }));
}
