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

export interface HistoryPlan {
  readonly chain: string;
  readonly ranges: readonly BlockRange[];
  readonly estimate: HistoryEstimate;
  readonly findings: readonly Finding[];
}

/** Pages, empty partitions and missing statistics distort the average of fewer rows. */
const MEASURED_ROWS_MIN = 10_000;

/** Reads 200 blocks from each source and from nodes; writes nothing. */
export async function makePlan(
  options: PlanOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<HistoryPlan> {
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
    const findings = planFindings(estimate, {
      chain,
      hasSources: history.length > 0,
      disk: await diskOf(configuration, databaseBytes),
      memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
      ingestProcesses: configuration.roles.find(({ role }) => role === 'ingest')?.processes ?? 1,
      callsPerSecond: upstreams.map((_, index) => rates[index] ?? learned[index] ?? null),
      calls: estimateRangeWork(work, [], proof).callsMin * (estimate.blocks / sizeOf(ranges)),
    });
    return { chain: chain.key, ranges, estimate, findings };
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

/** Limits of the machine, the sources and the nodes that an estimate meets. */
export interface PlanFacts {
  readonly chain: Pick<Chain, 'id' | 'key'>;
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

export function planFindings(estimate: HistoryEstimate, facts: PlanFacts): readonly Finding[] {
  return [
    diskFinding(estimate, facts.disk),
    memoryFinding(facts),
    ...(facts.callsPerSecond.length === 0 ? [] : [rateFinding(estimate, facts)]),
    ...sourceFindings(estimate, facts),
  ];
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
  const all = `at least ${Math.ceil(calls).toLocaleString('en-US')} if nodes read everything`;
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

function sourceFindings({ reads, seconds }: HistoryEstimate, { chain, hasSources }: PlanFacts): Finding[] {
  const failures = reads.flatMap(({ source, reading, sampled, intended, failure }) => {
    const { warning, bad } = findingsOf(source ?? 'nodes');
    const few = `${reading}: ${sampled} of ${intended} blocks sampled`;
    if (failure === null) {
      if (sampled >= intended) return [];
      const advice = 'Estimate a shorter range, or use a faster source.';
      return [warning(few, 'Rows, disk and time are less exact.', advice)];
    }
    const found = sampled === 0 ? `${reading}: ${failure}` : `${few}: ${failure}`;
    if (source !== null)
      return [
        warning(
          found,
          'Blocks that fail are read from the next source, or from nodes.',
          'Run "chainstead doctor".',
        ),
      ];
    const advice = 'Check RPC_URLS of the chain: old blocks may need an archive plan.';
    return [
      seconds === null
        ? bad(found, 'Some blocks can be read nowhere.', advice)
        : warning(found, 'Sources have these blocks.', advice),
    ];
  });
  if (hasSources) return failures;
  const { ok, warning } = findingsOf('sources');
  if (portalUrl(PUBLIC_PORTAL, chain) === PUBLIC_PORTAL) return [...failures, ok('none: nodes read everything')];
  const line = `HISTORY_${environmentSuffix(chain)}=portal:${PUBLIC_PORTAL}`;
  return [
    ...failures,
    warning('none', 'Nodes read everything.', `Set ${line}: it has this chain, without a key.`),
  ];
}
