import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createSyncMetrics, readChainStatuses, verifyRanges } from '@chainstead/sync/ingest';
import { atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { nftTransfers } from '../dataset.ts';
import { followTransfers } from '../testing/follow-transfers.ts';
import { comparedCollections, keepCollection } from '../testing/keep-collections.ts';
import {
  comparedBalances,
  expectedMoves,
  expectedRows,
  type HistoryStage,
  openHistoryStage,
  storedRows,
} from './testing/history-stage.ts';

const scratch = scratchOfFile();
let nextChain = 920_001;

const HISTORY = 70;

type Step =
  | { readonly kind: 'wallet' | 'contract' | 'owners'; readonly index: number }
  | { readonly kind: 'backfill' | 'verify'; readonly from: number; readonly to: number }
  | { readonly kind: 'follow'; readonly blocks: number }
  | { readonly kind: 'reorg'; readonly depth: number };

const range = fc
  .tuple(fc.integer({ min: 0, max: HISTORY - 1 }), fc.integer({ min: 0, max: HISTORY - 1 }))
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const onHistory: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wallet' as const), index: fc.nat(11) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('contract' as const), index: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('owners' as const), index: fc.nat(7) }) },
  { weight: 3, arbitrary: range.map((blocks) => ({ kind: 'backfill' as const, ...blocks })) },
  { weight: 1, arbitrary: range.map((blocks) => ({ kind: 'verify' as const, ...blocks })) },
);
const onHead: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('follow' as const), blocks: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 4 }) }),
);
/** Concurrent steps: some on history, at most one at the head. */
const moments = fc.array(
  fc
    .tuple(fc.array(onHistory, { maxLength: 4 }), fc.option(onHead))
    .map(([history, head]) => (head === null ? history : [...history, head])),
  { minLength: 1, maxLength: 4 },
);

/** The stage with a follower at the head. */
async function openFollowed(): Promise<{
  stage: HistoryStage;
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}> {
  const stage = await openHistoryStage(scratch.database, {
    chainId: nextChain++,
    blocks: HISTORY + 9,
    firstFollowed: HISTORY,
    finalityDepth: 9,
  });
  const stop = followTransfers({ chain: stage.chain, pool: stage.pool, database: scratch.database }, HISTORY);
  const caughtUp = async (): Promise<void> => {
    const { head } = stage.scripted;
    const hash = stage.scripted.blockAt(head)?.hash;
    const reached = async (): Promise<string | null> => {
      const [row] = await scratch.database.query<{ hash: string | null }>(
        sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash FROM sync_chains WHERE chain_id = ${stage.chain.id}`,
      );
      return row?.hash ?? null;
    };
    await expect.poll(reached, { timeout: 20_000, interval: 20 }).toBe(hash);
    // The first of its blocks is historical, and is read concurrently with the head.
    const covered = async (): Promise<number> => {
      const [row] = await scratch.database.query<{ blocks: number }>(
        sql`SELECT coalesce(sum(last_block - greatest(first_block, ${HISTORY}) + 1), 0)::int AS blocks FROM sync_ranges WHERE chain_id = ${stage.chain.id} AND last_block >= ${HISTORY}`,
      );
      return row?.blocks ?? 0;
    };
    await expect.poll(covered, { timeout: 20_000, interval: 20 }).toBe(head - HISTORY + 1);
  };
  return {
    stage,
    caughtUp,
    async close() {
      await stop();
      await stage.close();
    },
  };
}

async function take({ stage, caughtUp }: Awaited<ReturnType<typeof openFollowed>>, step: Step): Promise<void> {
  switch (step.kind) {
    case 'wallet':
      return stage.complete(stage.subject('wallet', stage.wallets[step.index]));
    case 'contract':
      return stage.complete(
        stage.subject('contract', stage.collections[step.index % Math.max(1, stage.collections.length)]),
      );
    case 'owners': {
      const collection = stage.collections[step.index % Math.max(1, stage.collections.length)];
      return collection === undefined ? undefined : keepCollection(scratch.database, stage.chain, collection);
    }
    case 'backfill':
      return stage.backfill(step);
    case 'verify':
      return verifyCovered(stage, step);
    case 'follow':
      stage.scripted.mine(step.blocks);
      return caughtUp();
    case 'reorg': {
      const depth = Math.min(step.depth, stage.scripted.head - HISTORY - 1);
      if (depth < 1) return;
      stage.scripted.reorg(depth, depth + 1);
      return caughtUp();
    }
  }
}

/** A verification gives up, by design, if a backfill holds a block. */
async function verifyCovered(stage: HistoryStage, { from, to }: { from: number; to: number }): Promise<void> {
  try {
    await verifyRanges(
      {
        chain: stage.chain,
        pool: stage.pool,
        database: scratch.database,
        datasets: [nftTransfers],
        logger: silentLogger(),
        clock: systemClock,
        metrics: createSyncMetrics(createMetricsRegistry()),
        proof: 'strict',
        backfillProof: 'none',
      },
      [{ from, to }],
      new AbortController().signal,
    );
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'RANGE_CLAIMED')) throw error;
  }
}

async function requireTruth(stage: HistoryStage): Promise<void> {
  const moves = await expectedMoves(scratch.database, stage);
  expect(await storedRows(scratch.database, stage.chain.id)).toEqual(expectedRows(moves));
  const { stored, expected } = await comparedBalances(scratch.database, stage, moves);
  expect(stored).toEqual(expected);
  const collections = await comparedCollections(scratch.database, stage.chain);
  expect(collections.stored).toEqual(collections.expected);
}

async function deadlocks(): Promise<number> {
  // Sessions report their counts when they are idle.
  await scratch.database.query(sql`SELECT pg_stat_force_next_flush()`);
  const [row] = await scratch.database.query<{ deadlocks: number }>(
    sql`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`,
  );
  return row?.deadlocks ?? -1;
}

test(
  'any histories, backfills, verifications, heads and reorganisations at once leave exactly the true rows and balances',
  async () => {
    const before = await deadlocks();
    await fc.assert(
      fc.asyncProperty(moments, async (steps) => {
        const followed = await openFollowed();
        try {
          await followed.caughtUp();
          for (const together of steps) {
            await Promise.all(together.map((step) => take(followed, step)));
            await requireTruth(followed.stage);
          }
          await followed.stage.backfill({ from: 0, to: HISTORY - 1 });
          await requireTruth(followed.stage);
          const all = followed.stage.scripted.expectedNftMoves();
          expect(await storedRows(scratch.database, followed.stage.chain.id)).toEqual(expectedRows(all));
        } finally {
          await followed.close();
        }
      }),
      {
        numRuns: atDepth(8),
        ...(process.env.SEED === undefined ? {} : { seed: Number(process.env.SEED) }),
      },
    );
    expect(await deadlocks()).toBe(before);
  },
  atDepth(180_000),
);

test('histories of many subjects beside a backfill of the same blocks neither deadlock nor lose rows', async () => {
  const blocks = Math.max(500, atDepth(1_500));
  const firstFollowed = blocks - 20;
  const stage = await openHistoryStage(scratch.database, { chainId: nextChain++, blocks, firstFollowed });
  onTestFinished(() => stage.close());
  const before = await deadlocks();
  const subjects = [
    ...stage.wallets.map((wallet) => stage.subject('wallet', wallet)),
    ...stage.collections.map((contract) => stage.subject('contract', contract)),
  ];
  await Promise.all([
    stage.backfill({ from: 0, to: firstFollowed - 1 }),
    stage.backfill({ from: 0, to: firstFollowed - 1 }),
    ...subjects.map((subject) => stage.complete(subject)),
  ]);
  await requireTruth(stage);
  expect(await deadlocks()).toBe(before);
  const [status] = await readChainStatuses(scratch.database, [nftTransfers], [stage.chain]).then((all) =>
    all.filter(({ chainId }) => chainId === stage.chain.id),
  );
  expect(status?.gaps).toEqual([]);
  expect(await scratch.database.query(sql`SELECT 1 FROM sync_claims WHERE chain_id = ${stage.chain.id}`)).toEqual(
    [],
  );
});
