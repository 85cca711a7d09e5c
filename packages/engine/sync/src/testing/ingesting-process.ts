/**
 * Ingests a chain in a separate process, which decoding and matching of single blocks end, as running out of memory
 * does. Its only argument is {@link IngestingProcessOptions}.
 */
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createWorkJournal, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createChainSync } from '../chain-sync.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockWatcher } from '../read/block-watcher.ts';
import { createSyncMetrics } from '../sync-metrics.ts';
import { marks } from './marks-dataset.ts';

export interface IngestingProcessOptions {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly nodeUrl: string;
  readonly deadlyToDecode: number;
  readonly deadlyToMatch: number;
}

const options: IngestingProcessOptions = JSON.parse(process.argv[2] ?? '');
const logger = silentLogger();
const registry = createMetricsRegistry();
const own = {
  key: `stage-${options.chainId}`,
  id: options.chainId,
  headerHash: true,
  proofPolicy: 'strict',
} as const;
const chain = createChainRegistry({ additional: [{ ...own, pollIntervalMs: 20 }] }).get(options.chainId);
const pool = createUpstreamPool({ chain, upstreams: [{ url: options.nodeUrl }], logger, metrics: registry });
await pool.start();
const database = openDatabase({ url: options.databaseUrl, applicationName: 'ingesting', poolSize: 8, logger });
const journal = createWorkJournal({ database, logger, metrics: registry });
await journal.start();
const deadlyMarks: Dataset = {
  ...(marks as Dataset),
  decode(logs, context) {
    if (logs.some(({ blockNumber }) => blockNumber === options.deadlyToDecode))
      process.kill(process.pid, 'SIGKILL');
    return (marks as Dataset).decode(logs, context);
  },
};
const watcher: BlockWatcher = {
  needs: async () => ({ transactions: false, internalTransfers: false }),
  async committed(transaction, _chain, blocks, unmatched) {
    for (const { header } of blocks.filter(({ header: { number } }) => unmatched?.has(number) !== true)) {
      if (header.number === options.deadlyToMatch) process.kill(process.pid, 'SIGKILL');
      await transaction.query(sql`INSERT INTO matched_blocks VALUES (${header.number})`);
    }
  },
  rolledBack: async () => undefined,
};
await createChainSync({
  ...{ chain, pool, database, logger, journal, watcher },
  datasets: [deadlyMarks],
  metrics: createSyncMetrics(registry),
  clock: systemClock,
  settings: {
    startBlock: 1,
    endBlock: null,
    proof: 'strict',
    backfillProof: 'none',
    backfillOrder: 'newest-first',
    verifyBlocksPerSecond: 0,
  },
}).run(new AbortController().signal);
