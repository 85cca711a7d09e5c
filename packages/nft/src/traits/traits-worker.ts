import type { Chain } from '@chainstead/chains';
import { type Address, errorText, isAddress, type Logger, parseAddress, type Registry } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import type { KeptSubjects } from '@chainstead/sync';
import { z } from 'zod';
import { TOKENS_MAX } from '../records/read-rarities.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { isHistoryComing, readCollectionCoverage } from './collection-coverage.ts';
import { computeTraits, type TraitsContext } from './compute-traits.ts';
import { deleteOldGeneration, endTraitsWork, forgetUnaskedTraits } from './generation-store.ts';
import { queueDocuments, settleDocuments } from './queue-documents.ts';
import { advanceTraits, listTraitsAtWork } from './traits-at-work.ts';
import { createTraitsMetrics } from './traits-metrics.ts';

export interface TraitsWorkerOptions {
  readonly database: Database;
  readonly kept: KeptSubjects;
  readonly jobs: Jobs;
  /** The chains whose collections this process works on. */
  readonly chains: readonly Chain[];
  /** Documents a second that are left for the metadata worker at most, by chain (`ON_DEMAND_COLLECTION_RATE`). */
  readonly documentRate: number;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** How often what is asked for is looked at. Default 2,000 ms. */
  readonly sweepEveryMs?: number;
  /** A process that shows no sign of life for this long is taken for dead, and its jobs run again. Default 30,000 ms. */
  readonly lockMs?: number;
}

/** Computes traits and rarity of the collections that somebody asked about. */
export interface TraitsWorker {
  /** Begins to work. Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
}

const jobSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sweep') }),
  z.object({ kind: z.literal('compute'), address: z.string().refine(isAddress) }),
]);
type TraitsJob = z.infer<typeof jobSchema>;

/** A computing and the sweeps beside it. */
const CONCURRENCY = 2;
const SWEEP_EVERY_MS = 2_000;
/** Collections that a sweep looks at. */
const COLLECTIONS_PER_SWEEP = 20;
/** Pieces of one collection in one sweep. */
const PIECES_PER_SWEEP = 20;
/** Documents of all collections that wait at most: what somebody asks for by name is never far behind. */
const WAITING_MAX = 1_000;

export function createTraitsWorker(options: TraitsWorkerOptions): TraitsWorker {
  const { database, kept, jobs, logger, lockMs, sweepEveryMs = SWEEP_EVERY_MS } = options;
  const outcomes = createTraitsMetrics(options.metrics);
  const documentsPerSweep = Math.max(1, Math.round((options.documentRate * sweepEveryMs) / 1_000));
  return {
    async start() {
      for (const chain of options.chains) {
        const queue = jobs.queue<TraitsJob>(`nft-traits-${chain.key}`, {
          schema: jobSchema,
          ...(lockMs !== undefined && { lockMs }),
        });
        const context: TraitsContext = {
          database,
          chain,
          logger,
          journal: options.journal ?? UNWRITTEN,
          count: (outcome) => outcomes.inc({ chain: chain.key, outcome }),
        };
        await queue.work(
          ({ payload, signal }) =>
            payload.kind === 'sweep'
              ? sweep(context, { queue, kept, documentsPerSweep }, signal)
              : computeTraits(context, parseAddress(payload.address), signal),
          { concurrency: CONCURRENCY },
        );
        await queue.schedule('sweep', { kind: 'sweep' }, { everyMs: sweepEveryMs });
      }
    },
  };
}

interface Sweeping {
  readonly queue: JobQueue<TraitsJob>;
  readonly kept: KeptSubjects;
  readonly documentsPerSweep: number;
}

/** Goes on with each collection a bit, the one that waits longest first. */
async function sweep(context: TraitsContext, sweeping: Sweeping, signal: AbortSignal): Promise<void> {
  const { database, chain, logger } = context;
  const collections = await listTraitsAtWork(database, chain, COLLECTIONS_PER_SWEEP);
  let room = collections.length === 0 ? 0 : await roomForDocuments(database, sweeping.documentsPerSweep);
  for (const { contract, work } of collections) {
    signal.throwIfAborted();
    try {
      if (work === 'history') await awaitHistory(context, sweeping.kept, contract);
      room -= await readDocuments(context, contract, room);
      if (work === 'compute') await sweeping.queue.add(`compute:${contract}`, { kind: 'compute', address: contract });
    } catch (error) {
      if (signal.aborted) throw error;
      // One collection is not to hold up the others.
      logger.warn(
        { chain: chain.key, token: contract, error: errorText(error) },
        'Work on the traits of a collection failed, it is tried again',
      );
    }
  }
  await forgetUnaskedTraits(database, chain);
  await deleteOldGeneration(database, chain);
}

/** How many documents may be left now. */
async function roomForDocuments(database: Database, documentsPerSweep: number): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM (SELECT 1 FROM nft_token_metadata WHERE due_at <= now() LIMIT ${WAITING_MAX}) AS due`,
  );
  return (row?.waiting ?? 0) < WAITING_MAX ? documentsPerSweep : 0;
}

/** Lets the work begin once the collection's transfers are read and counted. */
async function awaitHistory(
  { database, chain, count }: TraitsContext,
  kept: KeptSubjects,
  contract: Address,
): Promise<void> {
  await kept.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, contract, 0);
  const found = await readCollectionCoverage(database, chain, contract);
  if (found.ids > TOKENS_MAX) {
    count('too-large');
    return endTraitsWork(database, chain, contract, { isTooLarge: true });
  }
  const isThere = found.isBuilt && !isHistoryComing(found);
  await advanceTraits(database, chain, contract, async (_transaction, at) => ({
    step: at.work === 'history' ? { work: isThere ? 'queue' : 'history', after: null } : null,
    outcome: null,
  }));
}

/**
 * Leaves the documents of a collection's next ids for the metadata worker, or looks which of them have been read.
 * @param room documents that may be left @returns how many were
 */
async function readDocuments({ database, chain }: TraitsContext, contract: Address, room: number): Promise<number> {
  let left = room;
  for (let piece = 0; piece < PIECES_PER_SWEEP; piece++) {
    const done = await advanceTraits<{ readonly isStuck: boolean; readonly queued: number }>(
      database,
      chain,
      contract,
      async (transaction, at) => {
        if (at.work === 'settle' || at.work === 'improve') {
          const { step, isStuck } = await settleDocuments(transaction, chain, at);
          return { step, outcome: { isStuck, queued: 0 } };
        }
        // Where there is no room, another time begins with this one.
        if (at.work !== 'queue' || left === 0) return { step: null, outcome: { isStuck: true, queued: 0 } };
        const { step, queued } = await queueDocuments(transaction, chain, at, left);
        return { step, outcome: { isStuck: queued === left, queued } };
      },
    );
    left -= done?.queued ?? 0;
    if (done?.isStuck !== false) break;
  }
  return room - left;
}
