import { ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  comparedBalances,
  consecutiveBlocks,
  expectedMoves,
  expectedRows,
  type HistoryStage,
  openHistoryStage,
  type StageOptions,
  stagePool,
  storedRows,
} from './testing/history-stage.ts';

const scratch = scratchOfFile();
let nextChain = 910_001;

async function withStage(
  options: Partial<StageOptions>,
  work: (stage: HistoryStage) => Promise<void>,
): Promise<void> {
  const stage = await openHistoryStage(scratch.database, {
    chainId: nextChain++,
    blocks: 160,
    firstFollowed: 120,
    ...options,
  });
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

async function requireTruth(stage: HistoryStage): Promise<number> {
  const moves = await expectedMoves(scratch.database, stage);
  expect(await storedRows(scratch.database, stage.chain.id)).toEqual(expectedRows(moves));
  const { stored, expected } = await comparedBalances(scratch.database, stage, moves);
  expect(stored).toEqual(expected);
  return moves.length;
}

async function recordOf(stage: HistoryStage): Promise<Record<string, unknown> | undefined> {
  const [row] = await scratch.database.query(
    sql`SELECT * FROM backfill_requests WHERE chain_id = ${stage.chain.id}`,
  );
  return row;
}

const rangesOf = (stage: HistoryStage) =>
  scratch.database.query<{ firstBlock: number; lastBlock: number }>(
    sql`SELECT first_block, last_block FROM subject_ranges WHERE chain_id = ${stage.chain.id} ORDER BY first_block`,
  );
const callsOf = ({ node }: HistoryStage) => node.counters.snapshot().calls.eth_getLogs ?? 0;

describe('the history of a wallet', () => {
  test('brings what it sent and received below what is followed, with balances, and is recorded', () =>
    withStage({}, async (stage) => {
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.complete(wallet);
      expect(await requireTruth(stage)).toBeGreaterThan(5);
      expect(await rangesOf(stage)).toEqual([{ firstBlock: 0, lastBlock: 119 }]);
      expect(await recordOf(stage)).toMatchObject({ status: 'done', errorCode: null });
    }));

  test('leaves out what the chain covers', () =>
    withStage({}, async (stage) => {
      await stage.backfill({ from: 60, to: 119 });
      await stage.complete(stage.subject('wallet', stage.wallets[0]));
      expect(await rangesOf(stage)).toEqual([{ firstBlock: 0, lastBlock: 59 }]);
      await requireTruth(stage);
    }));

  test('makes no call where nothing is missing', () =>
    withStage({}, async (stage) => {
      await stage.backfill({ from: 0, to: 119 });
      const before = callsOf(stage);
      await stage.complete(stage.subject('wallet', stage.wallets[0]));
      expect(callsOf(stage)).toBe(before);
      expect(await recordOf(stage)).toMatchObject({ status: 'done', callsMade: 0 });
    }));

  test('reads headers where logs carry no timestamps, and counts them', () =>
    withStage({ faults: { noLogTimestamps: true } }, async (stage) => {
      await stage.complete(stage.subject('wallet', stage.wallets[0]));
      await requireTruth(stage);
      const record = await recordOf(stage);
      expect(Number(record?.callsMade)).toBeGreaterThan(Number(record?.callsEstimated));
    }));

  test('stays below what may still be reorganised, and comes back for it', () =>
    withStage({ blocks: 130, firstFollowed: 126, finalityDepth: 30 }, async (stage) => {
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.request(wallet);
      // Final by the chain's tag is 100; by depth it is 122.
      expect(await stage.read(wallet)).toBe('waits');
      expect(await rangesOf(stage)).toEqual([{ firstBlock: 0, lastBlock: 122 }]);
      expect(await stage.read(wallet)).toBe('idle');
      stage.scripted.mine(40);
      await scratch.database.query(
        sql`UPDATE backfill_requests SET due_at = now() WHERE chain_id = ${stage.chain.id}`,
      );
      await expect.poll(() => stage.pool.getHead().then(({ value }) => value.number)).toBe(170);
      expect(await stage.read(wallet)).toBe('done');
      expect(await rangesOf(stage)).toEqual([{ firstBlock: 0, lastBlock: 125 }]);
      await requireTruth(stage);
    }));
});

describe('the history of a contract', () => {
  test('brings all that it emitted', () =>
    withStage({}, async (stage) => {
      for (const contract of stage.collections.slice(0, 3))
        await stage.complete(stage.subject('contract', contract));
      expect(await requireTruth(stage)).toBeGreaterThan(20);
      const [token] = await scratch.database.query(
        sql`SELECT 1 FROM tokens WHERE chain_id = ${stage.chain.id} AND seen_as & 6 <> 0`,
      );
      expect(token).toBeDefined();
    }));
});

describe('a history that ends early', () => {
  test('gives way after its slice, and goes on from there', () =>
    withStage({ blocks: 3_010, firstFollowed: 3_000, logRangeMax: 200 }, async (stage) => {
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.request(wallet);
      const outcomes: string[] = [];
      do outcomes.push(await stage.read(wallet, { sliceMs: 1 }));
      while (outcomes.at(-1) === 'more');
      expect(outcomes.length).toBeGreaterThan(2);
      expect(outcomes.at(-1)).toBe('done');
      await requireTruth(stage);
    }));

  test('by an abort stays where it was, and a resumed one asks for no range twice', () =>
    withStage({ blocks: 3_010, firstFollowed: 3_000, logRangeMax: 200 }, async (stage) => {
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.request(wallet);
      const ending = new AbortController();
      const dying = stage.read(wallet, { signal: ending.signal });
      await expect.poll(async () => (await rangesOf(stage)).length).toBe(1);
      ending.abort(new Error('killed'));
      await expect(dying).rejects.toThrow();
      expect(await recordOf(stage)).toMatchObject({ status: 'running' });
      await requireTruth(stage);
      const reached = (await rangesOf(stage))[0]?.firstBlock ?? 0;
      expect(reached).toBeGreaterThan(0);
      expect(await stage.read(wallet)).toBe('done');
      expect(await rangesOf(stage)).toEqual([{ firstBlock: 0, lastBlock: 2_999 }]);
      await requireTruth(stage);
      expect(
        await scratch.database.query(sql`SELECT 1 FROM sync_claims WHERE chain_id = ${stage.chain.id}`),
      ).toEqual([]);
    }));

  test(
    'by a node that fails is tried again later, and says why',
    () =>
      withStage({}, async (stage) => {
        const wallet = stage.subject('wallet', stage.wallets[0]);
        await stage.request(wallet);
        stage.node.faults.set({
          errorRate: 1,
          errorBodies: [{ code: -32000, message: 'out of order' }],
          methods: ['eth_getLogs'],
        });
        expect(await stage.read(wallet)).toBe('failed');
        const record = await recordOf(stage);
        expect(record).toMatchObject({ status: 'failed', attempts: 1, errorCode: 'UPSTREAMS_EXHAUSTED' });
        expect(Number(record?.dueAt)).toBeGreaterThan(Date.now() + 10_000);
        expect(await stage.read(wallet)).toBe('idle');
        stage.node.faults.clear();
        await scratch.database.query(
          sql`UPDATE backfill_requests SET due_at = now() WHERE chain_id = ${stage.chain.id}`,
        );
        // The pool that has seen the node fail may avoid it for a moment more.
        const pool = stagePool(stage.chain, stage.node.url, 100_000);
        onTestFinished(() => pool.close());
        await pool.start();
        expect(await stage.read(wallet, { pool })).toBe('done');
        expect(await recordOf(stage)).toMatchObject({ status: 'done', attempts: 0, errorCode: null });
        await requireTruth(stage);
      }),
    100_000,
  );
});

describe('what a history may cost', () => {
  test('is estimated before it is read, close to what it takes', () =>
    withStage({ blocks: 1_010, firstFollowed: 1_000, logRangeMax: 25 }, async (stage) => {
      await stage.complete(stage.subject('wallet', stage.wallets[0]));
      const record = await recordOf(stage);
      const wallet = stage.wallets[0] ?? ZERO_ADDRESS;
      const related = consecutiveBlocks(stage, wallet, { from: 0, to: 999 }).size;
      expect(related).toBeGreaterThan(0);
      // Three filters over 1,000 blocks in ranges of 25.
      expect(record?.callsEstimated).toBe(120);
      expect(record?.callsMade).toBe(120 + related);
    }));

  test('refuses what is estimated to take more, without a call for logs, and begins once the limit is raised', () =>
    withStage({ blocks: 1_010, firstFollowed: 1_000, logRangeMax: 25 }, async (stage) => {
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.request(wallet, { maxCalls: 119 });
      expect(await stage.read(wallet, { maxCalls: 119 })).toBe('refused');
      expect(callsOf(stage)).toBe(0);
      expect(await recordOf(stage)).toMatchObject({
        status: 'refused',
        errorCode: 'HISTORY_REFUSED',
        errorMessage: 'It would take about 120 node calls; ON_DEMAND_MAX_CALLS allows 119',
      });
      expect(await stage.request(wallet, { maxCalls: 119 })).toBe('known');
      expect(await stage.request(wallet, { maxCalls: 120 })).toBe('requested');
      expect(await stage.read(wallet, { maxCalls: 120 })).toBe('done');
      await requireTruth(stage);
    }));

  test('ends a history that turns out to take more than was estimated, and keeps what it has', () =>
    withStage(
      { faults: { noLogTimestamps: true }, blocks: 3_010, firstFollowed: 3_000, logRangeMax: 1_000 },
      async (stage) => {
        const wallet = stage.subject('wallet', stage.wallets[0]);
        await stage.request(wallet, { maxCalls: 20 });
        expect(await stage.read(wallet, { maxCalls: 20 })).toBe('refused');
        expect(String((await recordOf(stage))?.errorMessage)).toMatch(
          /has taken \d+ node calls and is not complete; ON_DEMAND_MAX_CALLS allows 20/,
        );
        expect(await stage.request(wallet, { maxCalls: 20 })).toBe('known');
        expect(await requireTruth(stage)).toBeGreaterThan(0);
      },
    ));
});

describe('requests', () => {
  test('of one key are bounded, at once as one after the other; other keys go on', () =>
    withStage({}, async (stage) => {
      const outcomes = await Promise.all(
        stage.wallets
          .slice(0, 8)
          .map((wallet) => stage.request(stage.subject('wallet', wallet), { requestedBy: 'a', perKey: 3 })),
      );
      expect(outcomes.filter((outcome) => outcome === 'requested')).toHaveLength(3);
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(5);
      const another = stage.subject('wallet', stage.wallets[9]);
      expect(await stage.request(another, { requestedBy: 'b', perKey: 3 })).toBe('requested');
    }));

  test('of a chain that was never ingested wait', () =>
    withStage({}, async (stage) => {
      await scratch.database.query(sql`DELETE FROM sync_chains WHERE chain_id = ${stage.chain.id}`);
      const wallet = stage.subject('wallet', stage.wallets[0]);
      await stage.request(wallet);
      expect(await stage.read(wallet)).toBe('waits');
      expect(await recordOf(stage)).toMatchObject({ status: 'pending' });
    }));
});
