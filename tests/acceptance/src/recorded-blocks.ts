/** Recorded blocks, served by the recorded-chain node and indexed through a real pool and the engine's backfill. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '@chainstead/chains';
import {
  type BlockRange,
  type Clock,
  createMetricsRegistry,
  mergeRanges,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type BlockSource, createHistorySources, type SourceStatus } from '@chainstead/sources';
import type { Dataset } from '@chainstead/sync/datasets';
import { backfillRanges, createSyncMetrics, reindexRanges } from '@chainstead/sync/ingest';
import { type ChainSource, serveChain, serveRecordedChain } from '@chainstead/testkit';
import { datasets as allDatasets } from 'chainstead/src/datasets/index.ts';

/** The blocks of a chain that are recorded whole. @param folder of all recordings */
export function recordedRanges(folder: string, name: string): BlockRange[] {
  return mergeRanges(
    readdirSync(join(folder, name))
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => ({ from: Number(entry), to: Number(entry) })),
  );
}

/** A source is left alone for a moment: the recordings lack fields of some blocks. */
const SHORT_PAUSES: Clock = { ...systemClock, now: () => Date.now() * 100_000 };

/** Indexes recorded blocks of a chain, proven where that is possible. @throws UnprovenBlockError under the policy `strict` */
export async function indexRecordedBlocks(options: {
  readonly database: Database;
  readonly chain: Chain;
  readonly folder: string;
  /** The chain's folder. */
  readonly name: string;
  /** Default: all that are recorded whole. */
  readonly ranges?: readonly BlockRange[];
  /** Default: all without contracts of the operator. */
  readonly datasets?: readonly Dataset[];
  /** Default: `record`. */
  readonly proof?: 'record' | 'strict';
  /** Default: by the receipts. */
  readonly backfillProof?: 'none' | 'receipts';
  /** Whether they are indexed already, and are to be read again. Default: no. */
  readonly again?: boolean;
  /** Default: the recorded ones. */
  readonly served?: ChainSource;
  /** Read before the node, and closed. Default: none. */
  readonly source?: BlockSource;
}): Promise<readonly SourceStatus[]> {
  const { database, folder, name, ranges = recordedRanges(folder, name), datasets = allDatasets } = options;
  const index = options.again === true ? reindexRanges : backfillRanges;
  const { proof = 'record', backfillProof = 'receipts' } = options;
  const chain = { ...options.chain, finalizedTag: true };
  const node = await (options.served ? serveChain(options.served) : serveRecordedChain({ folder, chain: name }));
  const registry = createMetricsRegistry();
  const pool = createUpstreamPool({
    chain,
    // Recorded blocks have no link to a followed one: a second upstream confirms them.
    upstreams: [{ url: node.url }, { url: node.url }],
    logger: silentLogger(),
    metrics: registry,
  });
  const { source } = options;
  const logger = silentLogger();
  const sources =
    source && createHistorySources({ chain, clock: SHORT_PAUSES, logger, metrics: registry, sources: [source] });
  try {
    await pool.start();
    await index(
      {
        chain,
        pool,
        sources,
        database,
        datasets,
        logger,
        clock: systemClock,
        metrics: createSyncMetrics(registry),
        proof,
        backfillProof,
      },
      ranges,
      AbortSignal.timeout(60_000),
    );
    return sources?.statuses() ?? [];
  } finally {
    await sources?.close();
    await pool.close();
    await node.close();
  }
}
