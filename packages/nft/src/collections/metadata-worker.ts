import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import { type Logger, parseAddress, type Registry } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { dueCollections, forgetRefusals } from './collection-rows.ts';
import { createMetadataMetrics } from './metadata-metrics.ts';
import { collectionJobId, type MetadataJob, openMetadataQueue, tokenJobId } from './metadata-queue.ts';
import { createContractReader } from './read-contract.ts';
import type { DocumentReader } from './read-document.ts';
import { readDueCollection } from './read-due-collection.ts';
import { readDueToken } from './read-due-token.ts';
import type { OnCollection, ReadingContext } from './reading-context.ts';
import { dueTokens } from './token-rows.ts';

export interface MetadataWorkerOptions {
  readonly database: Database;
  readonly jobs: Jobs;
  /** The chains whose collections this process reads. */
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly documents: DocumentReader;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Called when a contract was found to be an NFT for the first time. What it throws is logged. */
  readonly onCollection?: OnCollection;
  /** How often rows that are due are looked for. Default 2,000 ms. */
  readonly sweepEveryMs?: number;
  /** A process that shows no sign of life for this long is taken for dead, and its jobs run again. Default 30,000 ms. */
  readonly lockMs?: number;
}

/** Reads what was asked for, or is due again: collections and tokens. */
export interface MetadataWorker {
  /** Begins to work. Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
}

/** Most of the time goes by waiting for documents of slow servers. */
const CONCURRENCY = 16;
/** Jobs that a sweep lets wait at most, so that what somebody waits for is never far behind re-readings. */
const WAITING_JOBS_MAX = 64;
const SWEEP_EVERY_MS = 2_000;
/** How often a sweep looks whether there is room again. Milliseconds. */
const REFILL_MS = 50;

export function createMetadataWorker(options: MetadataWorkerOptions): MetadataWorker {
  const { database, jobs, logger, lockMs, sweepEveryMs = SWEEP_EVERY_MS } = options;
  const readings = createMetadataMetrics(options.metrics);

  async function sweep(chain: Chain, queue: JobQueue<MetadataJob>, signal: AbortSignal): Promise<void> {
    await forgetRefusals(database, chain.id);
    const end = performance.now() + sweepEveryMs;
    // Where more is due than may wait, what is done makes room before the next sweep.
    while ((await fill(chain, queue)) && performance.now() + REFILL_MS < end)
      await sleep(REFILL_MS, undefined, { signal });
  }

  /** Turns rows into jobs, as many as there is room for. @returns whether more may be due */
  async function fill(chain: Chain, queue: JobQueue<MetadataJob>): Promise<boolean> {
    const { waiting } = await queue.depth();
    if (waiting >= WAITING_JOBS_MAX) return true;
    // What waits already keeps its place: adding its id again does nothing.
    const collections = await dueCollections(database, chain.id, WAITING_JOBS_MAX);
    const tokens = await dueTokens(database, chain.id, WAITING_JOBS_MAX - collections.length);
    await queue.addBulk([
      ...collections.map((address) => ({
        id: collectionJobId(address),
        payload: { kind: 'collection' as const, address },
      })),
      ...tokens.map((token) => ({
        id: tokenJobId(token),
        payload: { kind: 'token' as const, ...token },
      })),
    ]);
    return collections.length + tokens.length >= WAITING_JOBS_MAX;
  }

  return {
    async start() {
      for (const { chain, pool } of options.chains) {
        const queue = openMetadataQueue(jobs, chain, lockMs === undefined ? {} : { lockMs });
        const context: ReadingContext = {
          database,
          chain,
          contracts: createContractReader({ chain, pool }),
          documents: options.documents,
          logger,
          journal: options.journal ?? UNWRITTEN,
          count: (kind, outcome) => readings.inc({ chain: chain.key, kind, outcome }),
          onCollection: options.onCollection,
        };
        await queue.work(({ payload, signal }) => work(context, queue, payload, signal), { concurrency: CONCURRENCY });
        await queue.schedule('sweep', { kind: 'sweep' }, { everyMs: sweepEveryMs });
      }
    },
  };

  function work(
    context: ReadingContext,
    queue: JobQueue<MetadataJob>,
    job: MetadataJob,
    signal: AbortSignal,
  ): Promise<void> {
    switch (job.kind) {
      case 'sweep':
        return sweep(context.chain, queue, signal);
      case 'collection':
        return readDueCollection(context, parseAddress(job.address), signal);
      case 'token':
        return readDueToken(context, { ...job, address: parseAddress(job.address) }, signal);
    }
  }
}
