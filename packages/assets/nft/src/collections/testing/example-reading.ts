import type { Chain } from '@chainstead/chains';
import { type Address, createMetricsRegistry, type Logger, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import { createDueWork, type DueWork } from '@chainstead/jobs/worker';
import { exampleChain, examplePool } from '@chainstead/testkit';
import { addNftMetadata, type MetadataOptions } from '../metadata-worker.ts';
import { createDocumentReader } from '../read-document.ts';

export interface ExampleReadingOptions {
  readonly database: Database;
  readonly node: { readonly url: string; readonly chainId: number };
  /** CIDR ranges that documents may be in. Default: this machine. */
  readonly allowPrivate?: readonly string[];
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly ipfsGateways?: readonly string[];
  /** Timeout for a document. Default: long enough for a stalled machine. */
  readonly documentTimeoutMs?: number;
  readonly onCollection?: MetadataOptions['onCollection'];
  readonly logger?: Logger;
}

/** A worker that reads from a chain's node, for tests. */
export interface ExampleReading {
  readonly chain: Chain;
  readonly work: DueWork;
  readonly metrics: ReturnType<typeof createMetricsRegistry>;
  close(): Promise<void>;
}

export async function startReading(options: ExampleReadingOptions): Promise<ExampleReading> {
  const { database, node, onCollection, resolve } = options;
  const logger = options.logger ?? silentLogger();
  const metrics = createMetricsRegistry();
  const chain = exampleChain({ id: node.chainId, key: 'eth' });
  const pool = await examplePool(chain, node.url);
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
  const work = createDueWork({ database, clock: systemClock, logger, metrics, sweepEveryMs: 100 });
  addNftMetadata(work, { database, chains, documents, logger, metrics, ...(onCollection && { onCollection }) });
  work.start();
  return {
    chain,
    work,
    metrics,
    async close() {
      await work.close(2_000);
      await egress.close();
      await pool.close();
    },
  };
}

export interface CollectionRow {
  readonly status: string;
  readonly name: string | null;
  readonly collectionLogo: string | null;
  readonly contractType: string | null;
  readonly errorCode: string | null;
  readonly attempts: number;
  readonly symbol: string | null;
  readonly baseUri: string | null;
  readonly synced: boolean;
  /** Seconds until it is due; null: not scheduled. */
  readonly dueIn: number | null;
  readonly requestedBy: string | null;
}

/** Makes collections due, as a request does. */
export async function requestFor(
  database: Database,
  chain: Chain | number,
  ...addresses: Address[]
): Promise<void> {
  await database.query(
    sql`INSERT INTO nft_collections (token_address, chain_id, status, due_at, requested_by)
     SELECT decode(substr(address, 3), 'hex'), ${typeof chain === 'number' ? chain : chain.id}, 'pending', now(), 'test' FROM unnest(${addresses}::text[]) AS address`,
  );
}

export async function rowOf(database: Database, address: Address): Promise<CollectionRow | undefined> {
  const [row] = await database.query<CollectionRow>(
    sql`SELECT status, name, symbol, base_uri, synced_at IS NOT NULL AS synced, collection_logo, contract_type, error_code, attempts, requested_by,
       extract(epoch FROM due_at - now())::float8 AS due_in FROM nft_collections WHERE token_address = decode(substr(${address}, 3), 'hex')`,
  );
  return row;
}
