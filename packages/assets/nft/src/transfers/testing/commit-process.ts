/**
 * Backfills and verifies blocks in a separate process, whose heap a test keeps small. Its only argument is
 * {@link CommitProcessOptions}.
 */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import type { Dataset } from '@chainstead/sync/datasets';
import { backfillRanges, createSyncMetrics, verifyRanges } from '@chainstead/sync/ingest';
import { nftTransfers } from '../dataset.ts';
import { nftMalformedLogs } from '../malformed-logs.ts';
import { stagePool } from '../wallet-history/testing/history-stage.ts';

export interface CommitProcessOptions {
  readonly databaseUrl: string;
  readonly nodeUrl: string;
  readonly lastBlock: number;
}

const options: CommitProcessOptions = JSON.parse(process.argv[2] ?? '');
const logger = silentLogger();
const chain = createChainRegistry().get('eth');
const pool = stagePool(chain, options.nodeUrl, 1_000);
const database = openDatabase({ url: options.databaseUrl, applicationName: 'commits', poolSize: 5, logger });
const metrics = createSyncMetrics(createMetricsRegistry());
const shared = {
  chain,
  pool,
  database,
  datasets: [nftTransfers, nftMalformedLogs] as readonly Dataset[],
  logger,
  clock: systemClock,
  metrics,
};
const range = { from: 0, to: options.lastBlock };
await pool.start();
await backfillRanges(
  { ...shared, proof: 'record', backfillProof: 'none' },
  [range],
  new AbortController().signal,
);
const { repairs } = await verifyRanges(
  { ...shared, proof: 'record', backfillProof: 'none' },
  [range],
  new AbortController().signal,
);
await pool.close();
await database.close();
process.stdout.write(`${repairs.length} repairs\n`);
