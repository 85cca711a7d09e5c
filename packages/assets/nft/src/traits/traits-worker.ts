import type { Chain } from '@chainstead/chains';
import { type Address, counter, defineMetrics, type Logger, type Registry } from '@chainstead/core';
import { type Database, rawSql, sql, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import { backoffSeconds, type Claim } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { TOKENS_MAX } from '../records/read-rarities.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { isHistoryComing, readCollectionCoverage } from './collection-coverage.ts';
import { computeTraits, queueDocuments, settleDocuments, type TraitsContext } from './compute-traits.ts';
import { deleteOldGeneration, endTraitsWork, forgetUnrequestedTraits } from './generation-store.ts';
import {
  countQueuing,
  DUE_TRAITS,
  type DueTraits,
  endTraitsClaim,
  TRAITS_COLUMNS_CLAIMED,
  TRAITS_WORK,
} from './requested-traits.ts';
import { advanceTraits, type TraitsWork } from './traits-at-work.ts';

interface TraitsOptions {
  readonly database: Database;
  readonly projections: SubjectProjections;
  readonly chains: readonly Chain[];
  /** Queued per chain and second (`ON_DEMAND_COLLECTION_RATE`). */
  readonly documentRate: number;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Milliseconds until a waiting collection is checked again. @default 2,000 */
  readonly stepEveryMs?: number;
}

const CONCURRENCY = 2;
const STEPS_PER_IMPROVEMENT = 15;
const PIECES_PER_CLAIM = 20;
/** Queued documents of all collections: explicit requests never wait long behind them. */
const WAITING_MAX = 1_000;
const RETRY_SECONDS = { base: 2, max: 300 } as const;

export const createTraitsMetrics = defineMetrics('chainstead_nft', {
  traits: counter(
    'Number of collection trait computations by outcome: computed, too-large, begun-again (restarted because the token IDs were being recounted), overtaken (another process computed it), set-aside (quarantined because it ended processes), failed (retried)',
    ['chain', 'outcome'],
  ),
});

export function addTraits(dueWork: Pick<DueWork, 'add'>, options: TraitsOptions): void {
  const { database, projections, logger, documentRate, stepEveryMs = 2_000 } = options;
  const { traits } = createTraitsMetrics(options.metrics);
  for (const chain of options.chains) {
    const context: TraitsContext = {
      database,
      chain,
      logger,
      journal: options.journal ?? UNWRITTEN,
      count: (outcome) => traits.inc({ chain: chain.key, outcome }),
    };
    dueWork.add<DueTraits>({
      name: TRAITS_WORK,
      chain,
      table: DUE_TRAITS,
      returning: TRAITS_COLUMNS_CLAIMED,
      concurrency: CONCURRENCY,
      async perform(claims, signal) {
        for (const claim of claims)
          await goOn(context, { projections, documentRate, stepEveryMs }, claim, signal);
      },
      retrySeconds: ({ attempts }) => backoffSeconds(attempts, RETRY_SECONDS),
      async tidy() {
        await forgetUnrequestedTraits(database, chain);
        await deleteOldGeneration(database, chain);
      },
    });
  }
}

type Pace = Required<Pick<TraitsOptions, 'projections' | 'documentRate' | 'stepEveryMs'>>;

async function goOn(
  context: TraitsContext,
  pace: Pace,
  claim: Claim<DueTraits>,
  signal: AbortSignal,
): Promise<void> {
  const { database, chain } = context;
  const { address, work } = claim.row;
  if (work === 'history') await awaitHistory(context, pace.projections, address);
  const { room, ms } = await documentsOf(context, pace);
  const next = work === 'compute' ? work : await readDocuments(context, address, room, signal);
  if (next === 'compute') {
    await computeTraits(context, address, signal);
    while (!signal.aborted && (await deleteOldGeneration(database, chain)));
  }
  await endTraitsClaim(database, claim, next === 'improve' ? STEPS_PER_IMPROVEMENT * ms : ms);
}

/** How many may be queued now, and ms until the next. All share the chain's rate. */
async function documentsOf(
  { database, chain }: TraitsContext,
  { documentRate, stepEveryMs }: Pace,
): Promise<{ readonly room: number; readonly ms: number }> {
  const collections = Math.max(1, await countQueuing(database, chain));
  const ms = Math.max(stepEveryMs, (collections / documentRate) * 1_000);
  const room = Math.max(1, Math.floor((documentRate * ms) / 1_000 / collections));
  const [row] = await database.query<{ waiting: number }>(
    sql`SELECT count(*)::int AS waiting FROM (SELECT 1 FROM nft_token_metadata WHERE due_at <= now() LIMIT ${rawSql(WAITING_MAX)}) AS due`,
  );
  const isMetadataWorkerBehind = (row?.waiting ?? 0) >= WAITING_MAX;
  return { room: isMetadataWorkerBehind ? 0 : room, ms };
}

async function awaitHistory(
  { database, chain, count }: TraitsContext,
  projections: SubjectProjections,
  contract: Address,
): Promise<void> {
  await projections.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, contract);
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

/** @returns null if the work has ended */
async function readDocuments(
  { database, chain }: TraitsContext,
  contract: Address,
  room: number,
  signal: AbortSignal,
): Promise<TraitsWork | null> {
  let left = room;
  let next: TraitsWork | null = null;
  for (let piece = 0; piece < PIECES_PER_CLAIM; piece++) {
    signal.throwIfAborted();
    const done = await advanceTraits<{
      readonly isStuck: boolean;
      readonly queued: number;
      readonly work: TraitsWork;
    }>(database, chain, contract, async (transaction, at) => {
      if (at.work === 'settle' || at.work === 'improve') {
        const { step, isStuck } = await settleDocuments(transaction, chain, at);
        return { step, outcome: { isStuck, queued: 0, work: step.work } };
      }
      if (at.work !== 'queue' || left === 0)
        return { step: null, outcome: { isStuck: true, queued: 0, work: at.work } };
      const { step, queued } = await queueDocuments(transaction, chain, at, left);
      return { step, outcome: { isStuck: queued === left, queued, work: step.work } };
    });
    left -= done?.queued ?? 0;
    next = done?.work ?? null;
    if (done?.isStuck !== false) break;
  }
  return next;
}
