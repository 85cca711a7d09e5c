import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createDueWork, type DueWork } from '@chainstead/jobs/worker';
import {
  createOnDemandBackfill,
  type OnDemandBackfill,
  type WalletHistoryWorkOptions,
} from '@chainstead/pages/on-demand';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nftTransfers } from '../dataset.ts';
import {
  comparedBalances,
  consecutiveBlocks,
  expectedMoves,
  expectedRows,
  type HistoryChain,
  type HistoryStage,
  openHistoryStage,
  serveHistoryChain,
  storedRows,
  TEST_LOCK_MS,
} from './testing/history-stage.ts';
import type { WorkerProcessOptions } from './testing/worker-process.ts';

const CHAIN_ID = 940_001 + (process.pid % 1_000) * 10;
const FIRST_FOLLOWED = 3_000;
const LOG_RANGE = 50;

/** Mined once: that takes longer than most of the tests. */
let served: HistoryChain;
beforeAll(async () => {
  served = await serveHistoryChain({ chainId: CHAIN_ID, blocks: FIRST_FOLLOWED + 10 });
});
afterAll(async () => {
  await served.node.close();
});

describe('wallet history as due work', () => {
  let scratch: ScratchDatabase;
  let stage: HistoryStage;
  const opened: DueWork[] = [];

  beforeEach(async () => {
    scratch = await createScratchDatabase();
    served.node.faults.clear();
    served.node.counters.reset();
    stage = await openHistoryStage(scratch.database, {
      chainId: CHAIN_ID,
      blocks: FIRST_FOLLOWED + 10,
      firstFollowed: FIRST_FOLLOWED,
      logRangeMax: LOG_RANGE,
      served,
    });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((dueWork) => dueWork.close(100)));
    await stage.close();
    await scratch.drop();
  });

  /** The parts of a process: an API process only requests, a worker also works. */
  function open(perKey = 100): OnDemandBackfill {
    return createOnDemandBackfill({
      ...{ chains: [stage.chain], datasets: [nftTransfers], maxCalls: 10_000, perKey },
    });
  }
  function work(histories: OnDemandBackfill, options: Partial<WalletHistoryWorkOptions> = {}): void {
    const { database } = scratch;
    const shared = { database, clock: systemClock, logger: silentLogger(), metrics: createMetricsRegistry() };
    const dueWork = createDueWork({ ...shared, leaseMs: TEST_LOCK_MS, sweepEveryMs: 100 });
    histories.work(dueWork, { ...shared, chains: [{ chain: stage.chain, pool: stage.pool }], ...options });
    dueWork.start();
    opened.push(dueWork);
  }
  /** Calls for consecutive mints in addition to those of a subject, below a block. */
  const relatedOf = (subject: Address | undefined, below: number): number =>
    subject === undefined ? 0 : consecutiveBlocks(stage, subject, { from: 0, to: below - 1 }).size;
  const context = () => ({ database: scratch.database, logger: silentLogger() });
  const statuses = async (): Promise<string[]> =>
    (
      await scratch.database.query<{ status: string }>(
        sql`SELECT status FROM backfill_requests WHERE chain_id = ${stage.chain.id}`,
      )
    ).map(({ status }) => status);
  const finished = (count: number) =>
    expect.poll(statuses, { timeout: 60_000, interval: 50 }).toEqual(Array.from({ length: count }, () => 'done'));

  async function requireTruth(): Promise<void> {
    const moves = await expectedMoves(scratch.database, stage);
    expect(moves.length).toBeGreaterThan(0);
    expect(await storedRows(scratch.database, stage.chain.id)).toEqual(expectedRows(moves));
    const { stored, expected } = await comparedBalances(scratch.database, stage, moves);
    expect(stored).toEqual(expected);
  }

  test('what the API asks for is read by a worker, wallets and contracts, each once', async () => {
    const api = open();
    work(open());
    const wallets = stage.wallets.slice(0, 3);
    const [contract] = stage.collections;
    if (contract === undefined) throw new Error('The chain has no collection');
    const requested = await Promise.all([
      ...wallets.flatMap((wallet) => [1, 2].map(() => api.requestWallet(context(), stage.chain, wallet, null))),
      api.requestContract(context(), stage.chain, contract, null),
    ]);
    expect(requested.filter((answer) => answer === 'requested')).toHaveLength(4);
    await finished(4);
    await requireTruth();
    const related = [...wallets, contract].reduce((sum, one) => sum + relatedOf(one, FIRST_FOLLOWED), 0);
    // Three filters for a wallet, one for a contract, over 3,000 blocks in ranges of 50.
    expect(stage.node.counters.snapshot().calls.eth_getLogs).toBe(3 * 3 * 60 + 60 + related);
    expect(await api.requestContract(context(), stage.chain, contract, null)).toBe('known');
  }, 90_000);

  test.each([
    ['that is being read', 100, ['requested', 'known']],
    ['of a key that has too much unfinished', 0, ['full', 'full']],
  ] as const)('a contract %s is looked at once, however often it is asked about', async (_, perKey, answers) => {
    const api = open(perKey);
    const [contract] = stage.collections;
    if (contract === undefined) throw new Error('The chain has no collection');
    let statements = 0;
    const count = <Done>(done: Done): Done => {
      statements += 1;
      return done;
    };
    const database: Database = {
      ...scratch.database,
      query: (statement) => count(scratch.database.query(statement)),
      transaction: (run) => count(scratch.database.transaction(run)),
    };
    const ask = () =>
      api.requestContract({ database, logger: silentLogger() }, stage.chain, contract, 'somebody');
    expect(await ask()).toBe(answers[0]);
    const first = statements;
    expect(first).toBeGreaterThan(0);
    expect(await ask()).toBe(answers[1]);
    expect(statements).toBe(first);
  });

  test('rows that no notification told of are found by the sweep', async () => {
    await stage.request(stage.subject('wallet', stage.wallets[0]));
    work(open());
    await finished(1);
    await requireTruth();
  }, 90_000);

  test('long wallet histories take turns: a short one need not wait for them to end', async () => {
    stage.node.faults.set({ latencyMs: 20 });
    const api = open();
    for (const wallet of stage.wallets.slice(0, 4)) await api.requestWallet(context(), stage.chain, wallet, null);
    work(open(), { sliceMs: 50 });
    await finished(4);
    await requireTruth();
  }, 90_000);

  test('a worker that is killed in the middle loses nothing, and the next one goes on where it was', async () => {
    stage.node.faults.set({ latencyMs: 40 });
    const api = open();
    const [wallet] = stage.wallets;
    if (wallet === undefined) throw new Error('The chain has no wallet');
    await api.requestWallet(context(), stage.chain, wallet, null);
    const options: WorkerProcessOptions = {
      databaseUrl: scratch.url,
      chainId: stage.chain.id,
      nodeUrl: stage.node.url,
      logRangeMax: LOG_RANGE,
    };
    const script = fileURLToPath(new URL('testing/worker-process.ts', import.meta.url));
    const child = spawn(process.execPath, [script, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const lowest = async (): Promise<number> => {
      const [row] = await scratch.database.query<{ lowest: number | null }>(
        sql`SELECT min(first_block) AS lowest FROM subject_ranges WHERE chain_id = ${stage.chain.id}`,
      );
      return row?.lowest ?? FIRST_FOLLOWED;
    };
    await expect.poll(lowest, { timeout: 30_000, interval: 20 }).toBeLessThan(FIRST_FOLLOWED);
    child.kill('SIGKILL');
    await ended;
    const reached = await lowest();
    expect(reached).toBeGreaterThan(0);
    expect(await statuses()).toEqual(['running']);
    stage.node.counters.reset();
    stage.node.faults.clear();
    work(open());
    await finished(1);
    await requireTruth();
    expect(stage.node.counters.snapshot().calls.eth_getLogs).toBe(
      3 * Math.ceil(reached / LOG_RANGE) + relatedOf(stage.wallets[0], reached),
    );
    expect(
      await scratch.database.query(sql`SELECT 1 FROM sync_claims WHERE chain_id = ${stage.chain.id}`),
    ).toEqual([]);
  });
});
