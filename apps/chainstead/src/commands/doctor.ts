import type { Chain } from '@chainstead/chains';
import { defineError, type Finding, findingsOf, worstVerdict } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { examineVersion } from '@chainstead/db/server';
import { fetchChainId, type KnownBlock, type SampledBlock } from '@chainstead/rpc/pool';
import { type ChainStatus, readKnownBlocks } from '@chainstead/sync/ingest';
import { type Configuration, type ConfigurationWarning, parseConfiguration } from '../configuration/index.ts';
import { progressText, readDatasetProgress } from '../dataset-progress/dataset-progress.ts';
import { datasets as known } from '../datasets/registry.ts';
import { datasetCosts } from '../doctor/dataset-costs.ts';
import { type ExamineOptions, examineConfigured, examineUrl } from '../doctor/examine-nodes.ts';
import { examineSources } from '../doctor/examine-sources.ts';
import { examineStorage } from '../doctor/examine-storage.ts';
import { examineUpgrade } from '../doctor/examine-upgrade.ts';
import { type Report, renderReports, reportsJson, titleOf } from '../doctor/report.ts';
import { UsageError } from '../errors/usage-error.ts';
import { planRange } from '../plan/plan-range.ts';
import { readStatuses } from '../session/chain-session.ts';
import type { CommandContext, Invocation, JsonOption } from '../session/command-context.ts';
import { commandLogger, withStorage } from '../session/command-session.ts';
import { configurationSources } from '../session/read-configuration.ts';
import type { Storage } from '../session/storage.ts';
import { findDatabase, writeShown } from '../session/with-database.ts';
import { VERSION } from '../version.ts';

const DEADLINE_MS = 120_000;
const IDENTITY_MS = 10_000;

interface DoctorOptions extends JsonOption {
  readonly chain?: string;
  readonly url?: string;
  readonly upgrade?: boolean;
  readonly plan?: boolean;
  readonly from?: string;
  readonly to?: string;
}

class ExaminationFailedError extends defineError('EXAMINATION_FAILED', (bad: readonly string[]) => ({
  message: `Checks failed: ${bad.join(', ')}`,
  facts: { bad },
  remedy: 'Apply the fixes listed above',
})) {}

/** @throws ExaminationFailedError after writing the findings; ConfigurationError, UsageError */
export async function examine(invocation: Invocation<DoctorOptions>): Promise<void> {
  const isPlan = invocation.options.plan === true;
  const reports = isPlan ? [await planRange(invocation)] : await examineParts(invocation);
  writeShown(invocation, reportsJson(reports), renderReports(reports));
  const bad = reports.filter(({ findings }) => worstVerdict(findings) === 'bad');
  // An estimate is a result, whatever it shows.
  if (bad.length > 0 && !isPlan) throw new ExaminationFailedError(bad.map(titleOf));
}

async function examineParts({
  options,
  command,
  context,
}: Invocation<DoctorOptions>): Promise<readonly Report[]> {
  const sources = configurationSources(command, context);
  const { configuration, warnings } = parseConfiguration(sources, { needsUpstreams: false });
  const parts =
    options.upgrade === true
      ? await examineUpgradeAlone(await findDatabase(configuration, context), context)
      : await examineAll(options, configuration, context);
  return [...configurationReports(warnings), ...parts];
}

function configurationReports(warnings: readonly ConfigurationWarning[]): Report[] {
  if (warnings.length === 0) return [];
  const findings = warnings.map(({ key, message }) =>
    findingsOf(key).warning(message, 'Chainstead ignores it.', 'Correct or remove it.'),
  );
  return [{ part: 'configuration', name: 'Configuration', findings }];
}

function examineUpgradeAlone(configuration: Configuration, context: CommandContext): Promise<Report[]> {
  return withStorage({ configuration, context, name: 'doctor', leavesSchema: true }, async (storage) => {
    const { findings } = await examineUpgrade(storage, configuration);
    return [upgradeReport([await examineVersion(storage.database), ...findings])];
  });
}

function upgradeReport(findings: readonly Finding[]): Report {
  return { part: 'upgrade', name: `Upgrade to ${VERSION}`, findings };
}

async function examineAll(
  { chain, url }: DoctorOptions,
  configuration: Configuration,
  context: CommandContext,
): Promise<readonly Report[]> {
  const { clock, stopSignal: signal } = context;
  const sample = new Map<string, SampledBlock[]>();
  const onBlock = ({ key }: Chain, block: SampledBlock): void => {
    sample.set(key, [...(sample.get(key) ?? []), block]);
  };
  const examining: ExamineOptions = { configuration, clock, signal, deadlineMs: DEADLINE_MS, onBlock };
  if (url !== undefined) return [await examineOne(examining, chain, url)];
  if (chain !== undefined) {
    const nodes = await examineConfigured(examining, chain);
    const key = configuration.chainRegistry.find(chain)?.key;
    const sources = await examineSources(examining, key ?? chain);
    const costs = examineDatasets(configuration, sample).filter((report) => report.chain === key);
    if (nodes.length > 0) return [...nodes, ...sources, ...costs];
    throw new UsageError(
      `No node for ${chain} is configured`,
      'Use a name from CHAINS, or pass a node with --url',
      { chain },
    );
  }
  const logger = commandLogger(configuration, context);
  return examineStorage({ configuration, logger, clock }, async (storage) => {
    const upgrade = storage && (await examineUpgrade(storage, configuration));
    const knownBlocks = storage === null ? {} : { knownBlocks: knownBlocksOf(storage.database) };
    const nodes = await examineConfigured({ ...examining, ...knownBlocks }, null);
    const sources = await examineSources(examining, null);
    const costs = examineDatasets(configuration, sample);
    const progress =
      storage !== null && upgrade?.isCurrent === true ? await examineProgress(storage, configuration) : [];
    return [
      ...(upgrade === null ? [] : [upgradeReport(upgrade.findings)]),
      ...nodes,
      ...sources,
      ...costs,
      ...progress,
    ];
  });
}

async function examineOne(examining: ExamineOptions, given: string | undefined, url: string): Promise<Report> {
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

async function examineProgress({ database }: Storage, configuration: Configuration): Promise<Report[]> {
  const statuses = await readStatuses(database, configuration);
  const progress = await readDatasetProgress(database, configuration, statuses);
  return configuration.chains.flatMap(({ chain: { id, key } }) => {
    const findings = [
      ...stopFindings(statuses.find(({ chainId }) => chainId === id)),
      ...(progress.get(id) ?? []).map((one) => findingsOf(one.subject).ok(progressText(one))),
    ];
    return findings.length === 0 ? [] : [{ part: 'progress', chain: key, name: 'progress', findings }];
  });
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
): Report[] {
  const configured = new Set(datasets.map(({ name }) => name));
  return chains.map(({ chain }) => ({
    part: 'datasets',
    chain: chain.key,
    name: 'datasets',
    findings: datasetCosts({ chain, known, configured, sample: sample.get(chain.key) ?? [] }),
  }));
}
