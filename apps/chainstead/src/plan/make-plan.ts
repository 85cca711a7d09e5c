/** The estimate of a backfill, and the limits of this machine. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type BlockRange, type Clock, type Finding, type Logger, rangeSize } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type DiskSpace, readDiskSpace, readTableSizes } from '@chainstead/db/server';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import { estimateHistory, estimateRangeWork, type HistoryEstimate } from '@chainstead/sync/ingest';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import { readIndexedDatasets } from '../session/indexed-datasets.ts';
import { openSources } from '../session/open-history.ts';
import { diskPlaceOf } from '../text/storage-status-text.ts';
import { planFindings } from './plan-findings.ts';

export interface PlanOptions {
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
