/** The estimate of a backfill, and the limits of this machine. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type BlockRange, type Clock, type Finding, findingsOf, type Logger, rangeSize } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type DiskSpace, readDiskSpace, readTableSizes } from '@chainstead/db/server';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import { portalUrl } from '@chainstead/sources';
import { estimateHistory, estimateRangeWork, type HistoryEstimate } from '@chainstead/sync/ingest';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import type { Report } from '../doctor/report.ts';
import { readIndexedDatasets } from '../session/chain-session.ts';
import { openSources } from '../session/upstream-pools.ts';
import { formatSeconds } from '../text/progress.ts';
import { diskPlaceOf, sizeText } from '../text/text-table.ts';

interface PlanOptions {
  readonly configuration: Configuration;
  readonly configured: ChainConfiguration;
  /** Null: none exists yet. */
  readonly database: Database | null;
  readonly pool: UpstreamPool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly callLimits?: UpstreamLimits | undefined;
  readonly recoverSigners?: RecoverSigners | undefined;
}

/** Pages, empty partitions and missing statistics distort the average of fewer rows. */
const MEASURED_ROWS_MIN = 10_000;

/** Reads 200 blocks from each source and from nodes; writes nothing. */
export async function makePlan(
  options: PlanOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<Report> {
  const { configuration, configured, database, pool } = options;
  const { chain, upstreams, history, backfillProof: proof } = configured;
  const datasets =
    database === null ? configuration.datasets : await readIndexedDatasets(database, configuration);
  const { tables, databaseBytes } =
    database === null ? { tables: [], databaseBytes: 0 } : await readTableSizes(database);
  const rowBytes = new Map(
    tables.flatMap(({ table, rows, heapBytes, indexBytes }) =>
      rows === null || rows < MEASURED_ROWS_MIN ? [] : [[table, (heapBytes + indexBytes) / rows] as const],
    ),
  );
  const sources = openSources(configured, options);
  try {
    const reading = {
      ...options,
      chain,
      proof,
      policy: configured.proof,
      retention: configured.retention,
      datasets,
    };
    const estimate = await estimateHistory(
      { ...reading, sources, hasNodes: upstreams.length > 0, rowBytes },
      ranges,
      signal,
    );
    const rates = upstreams.map(({ requestsPerSecond }) => requestsPerSecond ?? null);
    const learned = pool.status().map(({ learnedRate }) => learnedRate);
    const work = { work: 'backfill', ranges, datasets, chain } as const;
    return planReport(estimate, {
      chain,
      ranges,
      hasSources: history.length > 0,
      disk: await diskOf(configuration, databaseBytes),
      memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
      ingestProcesses: configuration.roles.find(({ role }) => role === 'ingest')?.processes ?? 1,
      callsPerSecond: upstreams.map((_, index) => rates[index] ?? learned[index] ?? null),
      calls: estimateRangeWork(work, [], proof).callsMin * (estimate.blocks / sizeOf(ranges)),
    });
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

/** The folder of a database that does not exist yet lies in one that does. */
async function diskOf(configuration: Configuration, databaseBytes: number): Promise<DiskSpace> {
  const place = await diskPlaceOf(configuration);
  let folder = place.folder === null ? null : resolve(place.folder);
  while (folder !== null && !existsSync(folder)) folder = dirname(folder);
  return readDiskSpace({ ...place, folder }, databaseBytes);
}

function sizeOf(ranges: readonly BlockRange[]): number {
  return Math.max(
    1,
    ranges.reduce((sum, range) => sum + rangeSize(range), 0),
  );
}

/** The range, and limits of the machine, the sources and the nodes that an estimate meets. */
export interface PlanFacts {
  readonly chain: Pick<Chain, 'id' | 'key'>;
  readonly ranges: readonly BlockRange[];
  readonly hasSources: boolean;
  readonly disk: DiskSpace;
  /** The machine's, or its container's. */
  readonly memoryBytes: number;
  readonly ingestProcesses: number | 'auto';
  /** By node: configured or learned; null: unknown. Empty: there are no nodes. */
  readonly callsPerSecond: readonly (number | null)[];
  /** If nodes read everything, at least. */
  readonly calls: number;
}

export function planReport(estimate: HistoryEstimate, facts: PlanFacts): Report {
  const { blocks, datasets, reads, seconds } = estimate;
  const requested = facts.ranges.map(({ from, to }) => `${from} to ${to}`).join(', ');
  return {
    part: 'plan',
    chain: facts.chain.key,
    name: `blocks ${requested}, ${countText(blocks)} to index`,
    findings: [
      ...datasets.map(datasetFinding),
      ...totalFindings(estimate, facts.ranges),
      ...reads.map((read) => readFinding(read, seconds)),
      diskFinding(estimate, facts.disk),
      memoryFinding(facts),
      ...(facts.callsPerSecond.length === 0 ? [] : [rateFinding(estimate, facts)]),
      ...(facts.hasSources ? [] : [sourceFinding(facts.chain)]),
    ],
  };
}

function datasetFinding({ name, rows, bytes, isMeasured }: HistoryEstimate['datasets'][number]): Finding {
  const from = isMeasured ? 'stored rows' : 'sample';
  const size = rows === null || bytes === null ? 'unknown rows' : `${countText(rows)} rows, ${sizeText(bytes)}`;
  return findingsOf(name).ok(`${size}; bytes per row from ${from}`, { rows, bytes, bytes_from: from });
}

/** The sample writes nothing: a slower server makes the backfill slower. */
function totalFindings({ datasets, blocks, seconds }: HistoryEstimate, ranges: readonly BlockRange[]): Finding[] {
  const sumOf = (part: 'rows' | 'bytes') => datasets.reduce((sum, dataset) => sum + (dataset[part] ?? 0), 0);
  const [rows, bytes] = [sumOf('rows'), sumOf('bytes')];
  const perSecond = seconds === null || seconds === 0 ? null : rows / seconds;
  const total = findingsOf('total').ok(`${countText(rows)} rows, ${sizeText(bytes)}`, {
    ranges,
    blocks,
    rows,
    bytes,
  });
  const time = findingsOf('time').ok(
    seconds === null
      ? 'unknown: some blocks could not be read'
      : `about ${formatSeconds(Math.ceil(seconds))} from the first source that has a block, with one process`,
    { hours: seconds === null ? null : seconds / HOUR, rows_per_second: perSecond },
  );
  const writes =
    perSecond === null
      ? ''
      : `Postgres must write ${countText(perSecond)} rows per second for that, which is not measured. `;
  return [
    { ...total, meaning: ROWS },
    { ...time, meaning: SPEED, remedy: `${writes}ROLES=ingest:N shares the work.` },
  ];
}

const ROWS =
  'Rows of the sample × blocks ÷ sampled blocks. Rows of contracts and tokens that appear later are not in it.';
const SPEED =
  'Blocks per second are 4 reads at once ÷ (wait for a request ÷ blocks of a full request + time per block), measured in the sample.';

function readFinding(read: HistoryEstimate['reads'][number], seconds: number | null): Finding {
  const { source, reading, blocks, sampled, intended, perSecond, failure } = read;
  const { ok, warning, bad } = findingsOf(source ?? 'nodes');
  const hours = perSecond === null ? null : blocks / perSecond / HOUR;
  const pace =
    perSecond === null || hours === null
      ? ''
      : ` at ${rateText(perSecond)} per second, ${hoursText(hours)} hours`;
  const cause = failure === null ? '' : `: ${failure}`;
  const found = `${reading}: ${countText(blocks)} blocks${pace}; ${sampled} of ${intended} blocks sampled${cause}`;
  const facts = { reads: reading, blocks, sampled_blocks: sampled, blocks_per_second: perSecond, hours, failure };
  if (failure === null) {
    if (sampled >= intended) return ok(found, facts);
    const advice = 'Estimate a shorter range, or use a faster source.';
    return warning(found, 'Rows, disk and time are less exact.', advice, facts);
  }
  if (source !== null) {
    const elsewhere = 'Blocks that fail are read from the next source, or from nodes.';
    return warning(found, elsewhere, 'Run "chainstead doctor".', facts);
  }
  const advice = 'Check RPC_URLS of the chain: old blocks may need an archive plan.';
  if (seconds === null) return bad(found, 'Some blocks can be read nowhere.', advice, facts);
  return warning(found, 'Sources have these blocks.', advice, facts);
}

const HOUR = 3_600;

function hoursText(hours: number): string {
  return hours >= 100 ? countText(hours) : hours.toPrecision(2);
}

function rateText(perSecond: number): string {
  return perSecond >= 10 ? countText(perSecond) : perSecond.toFixed(1);
}

function countText(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

function diskFinding({ datasets }: HistoryEstimate, disk: DiskSpace): Finding {
  const { ok, warning, bad } = findingsOf('disk');
  const needed = datasets.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const unknown = datasets.filter(({ bytes }) => bytes === null).map(({ name }) => name);
  if (unknown.length > 0)
    return warning(
      `unknown for ${unknown.join(', ')}`,
      'No source returned a block to measure.',
      'Check RPC_URLS and HISTORY of the chain.',
    );
  const need = `${sizeText(needed)} needed`;
  if (!disk.isKnown)
    return warning(`${need}, free space unknown`, `${disk.reason}.`, 'Compare it with the disk.');
  const has = `${need}, ${sizeText(disk.freeBytes)} free`;
  if (needed > disk.freeBytes)
    return bad(
      has,
      `${sizeText(needed - disk.freeBytes)} are missing.`,
      'Add disk space, start later, or leave datasets out of DATASETS.',
    );
  if (needed > disk.freeBytes * FULL_SHARE)
    return warning(has, 'The WAL and vacuum need space too.', 'Fill a disk to 70 % with tables.');
  return ok(has);
}

/** docs/operate/sizing-and-cost.md */
const FULL_SHARE = 0.7;

function memoryFinding({ memoryBytes, ingestProcesses }: PlanFacts): Finding {
  const { ok, warning } = findingsOf('memory');
  const processes = ingestProcesses === 'auto' ? 1 : ingestProcesses;
  const needed = PROCESS_BYTES * processes + POSTGRES_BYTES;
  const has = `${sizeText(needed)} needed, ${sizeText(memoryBytes)} in this machine or container`;
  if (memoryBytes >= needed) return ok(has);
  return warning(has, 'Processes may be killed.', 'Add memory, or set ROLES=ingest:1.');
}

/** docs/internals/benchmarks.md: peak of an ingest process. */
const PROCESS_BYTES = 500 * 1_024 ** 2;
const POSTGRES_BYTES = 500 * 1_024 ** 2;

function rateFinding(estimate: HistoryEstimate, { callsPerSecond, calls }: PlanFacts): Finding {
  const { ok, warning } = findingsOf('calls of nodes');
  const all = `at least ${countText(Math.ceil(calls))} if nodes read everything`;
  const known = callsPerSecond.filter((rate) => rate !== null);
  const rate = known.reduce((sum, one) => sum + one, 0);
  if (known.length === 0 || known.length < callsPerSecond.length) return ok(all);
  const found = `${all}, at ${rate.toFixed(1)} per second: ${formatSeconds(Math.ceil(calls / rate))}`;
  const needsNodes = estimate.reads.every(({ source, perSecond }) => source === null || perSecond === null);
  if (!needsNodes || calls / rate <= (estimate.seconds ?? 0)) return ok(found);
  return warning(
    found,
    'The sample was shorter than the limit shows: the backfill takes longer than estimated.',
    'Raise RPC_RATE, add nodes, or set HISTORY of the chain.',
  );
}

const PUBLIC_PORTAL = 'https://portal.sqd.dev';

function sourceFinding(chain: PlanFacts['chain']): Finding {
  const { ok, warning } = findingsOf('sources');
  if (portalUrl(PUBLIC_PORTAL, chain) === PUBLIC_PORTAL) return ok('none: nodes read everything');
  const line = `HISTORY_${environmentSuffix(chain)}=portal:${PUBLIC_PORTAL}`;
  return warning('none', 'Nodes read everything.', `Set ${line}: it has this chain, without a key.`);
}
