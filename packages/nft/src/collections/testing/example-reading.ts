import type { Chain } from '@chainstead/chains';
import { type Address, createMetricsRegistry, type Logger, silentLogger, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { createJobs, type Jobs, type JobsOptions } from '@chainstead/jobs';
import { exampleChain, examplePool } from '@chainstead/testkit';
import { createMetadataWorker, type MetadataWorkerOptions } from '../metadata-worker.ts';
import { createDocumentReader } from '../read-document.ts';

export interface ExampleReadingOptions {
  readonly database: Database;
  /** Where the queues are. */
  readonly home: Pick<JobsOptions, 'databaseUrl' | 'redisUrl' | 'prefix'>;
  readonly node: { readonly url: string; readonly chainId: number };
  /** CIDR ranges that documents may be in. Default: this machine. */
  readonly allowPrivate?: readonly string[];
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly ipfsGateways?: readonly string[];
  /** How long a document may take. Default: longer than a machine stalls. */
  readonly documentTimeoutMs?: number;
  readonly onCollection?: MetadataWorkerOptions['onCollection'];
  readonly logger?: Logger;
}

/** A worker at work over a chain's node, for tests. */
export interface ExampleReading {
  readonly chain: Chain;
  readonly jobs: Jobs;
  readonly metrics: ReturnType<typeof createMetricsRegistry>;
  close(): Promise<void>;
}

export async function startReading(options: ExampleReadingOptions): Promise<ExampleReading> {
  const { database, node, onCollection, resolve } = options;
  const logger = options.logger ?? silentLogger();
  const metrics = createMetricsRegistry();
  const chain = exampleChain({ id: node.chainId, key: 'eth' });
  const pool = await examplePool(chain, node.url);
  const jobs = await createJobs({ ...options.home, logger, metrics });
  const egress = createEgress({
    allowPrivate: options.allowPrivate ?? ['127.0.0.0/8'],
    timeoutMs: options.documentTimeoutMs ?? 20_000,
    ...(resolve && { resolve }),
  });
  const documents = createDocumentReader({
    egress,
    ipfsGateways: options.ipfsGateways ?? [],
    arweaveGateways: [],
    clock: systemClock,
  });
  const chains = [{ chain, pool }];
  await createMetadataWorker({
    database,
    jobs,
    chains,
    documents,
    logger,
    metrics,
    sweepEveryMs: 100,
    lockMs: 1_000,
    ...(onCollection && { onCollection }),
  }).start();
  return {
    chain,
    jobs,
    metrics,
    async close() {
      await jobs.close(2_000);
      await egress.close();
      await pool.close();
    },
  };
}

export interface CollectionRow {
  readonly status: string;
  readonly name: string | null;
  readonly collection_logo: string | null;
  readonly contract_type: string | null;
  readonly error_code: string | null;
  readonly attempts: number;
  readonly symbol: string | null;
  readonly base_uri: string | null;
  readonly synced: boolean;
  /** Seconds until it is due; null: not by itself. */
  readonly due_in: number | null;
  readonly requested_by: string | null;
}

/** Makes collections due, as a request does. */
export async function askFor(database: Database, chain: Chain | number, ...addresses: Address[]): Promise<void> {
  await database.query(
    `INSERT INTO nft_collections (token_address, chain_id, status, due_at, requested_by)
     SELECT decode(substr(address, 3), 'hex'), $1, 'pending', now(), 'test' FROM unnest($2::text[]) AS address`,
    [typeof chain === 'number' ? chain : chain.id, addresses],
  );
}

export async function rowOf(database: Database, address: Address): Promise<CollectionRow | undefined> {
  const [row] = await database.query<CollectionRow>(
    `SELECT status, name, symbol, base_uri, synced_at IS NOT NULL AS synced, collection_logo, contract_type, error_code, attempts, requested_by,
       extract(epoch FROM due_at - now())::float8 AS due_in FROM nft_collections WHERE token_address = decode(substr($1, 3), 'hex')`,
    [address],
  );
  return row;
}
