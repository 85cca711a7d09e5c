import { type Hash, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Checkpoint, readChainState } from '../checkpoint.ts';
import { readFollowedBlock } from '../coverage/linked-blocks.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { BlockWatcher } from '../read/block-watcher.ts';
import { requireUpstreams } from '../read/link-range.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage, type ScriptedStage } from '../testing/scripted-stage.ts';
import {
  createWholeBlockTables,
  expectedOutcomes,
  expectedPayments,
  outcomes,
  payments,
  storedOutcomes,
  storedPayments,
} from '../testing/whole-block-datasets.ts';
import { follow } from './follower.ts';
import { requireNotReset } from './reconcile.ts';

const ALL = [marks, outcomes, payments] as readonly Dataset[];
const FIRST = 5;
const REORG_DEPTH_MAX = 12;
let scratch: ScratchDatabase;
let nextChainId = 930_001;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  await createWholeBlockTables(scratch.database);
});
afterAll(() => scratch.drop());

interface Stage extends ScriptedStage {
  readonly reorgs: () => Promise<string | undefined>;
  /** Transfer rows counted by the metric. */
  readonly rowsCounted: () => Promise<number>;
  /** Follows from the chain's checkpoint to the current head. */
  follow(watcher?: BlockWatcher, endBlock?: number): Promise<void>;
  checkpoint(): Promise<Checkpoint | null>;
  /** Makes the node alter a transaction of this block; null: of none. */
  lieAbout(block: number | null): void;
  /** Moves the chain before the node's next response to one of these calls. */
  beforeNext(method: string, move: Move): void;
}

/** @param params of the call. The node awaits the result. */
type Move = (params: readonly unknown[]) => unknown;

async function openStage(blocks: number, firstFollowed = FIRST): Promise<Stage> {
  const moves = new Map<string, Move>();
  let liedAbout: number | null = null;
  const reported = (block: unknown): unknown => {
    const { number, transactions } = (block ?? {}) as {
      readonly number?: string;
      readonly transactions?: unknown;
    };
    if (liedAbout === null || Number(number) !== liedAbout || !Array.isArray(transactions)) return block;
    const [first, ...others] = transactions;
    return typeof first === 'object'
      ? { ...(block as object), transactions: [{ ...first, value: '0x1' }, ...others] }
      : block;
  };
  const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
    blocks,
    facts: { pollIntervalMs: 10, reorgDepthMax: REORG_DEPTH_MAX },
    firstFollowed,
    answer: async (method, params, own) => {
      const move = moves.get(method);
      moves.delete(method);
      await move?.(params);
      const reply = await own(params);
      return 'result' in reply && method.startsWith('eth_getBlockBy')
        ? { result: reported(reply.result) }
        : reply;
    },
  });
  onTestFinished(() => stage.close());
  const checkpoint = async () => (await readChainState(stage.database, stage.chain.id))?.checkpoint ?? null;
  return {
    ...stage,
    checkpoint,
    lieAbout: (block) => {
      liedAbout = block;
    },
    beforeNext: (method, move) => moves.set(method, move),
    rowsCounted: async () => {
      const { values } = await stage.metrics.rows.get();
      return values.find(({ labels }) => labels.dataset === 'marks')?.value ?? 0;
    },
    reorgs: async () => /chainstead_sync_reorgs_total\{[^}]*\} (\d+)/.exec(await stage.metricsText())?.[1],
    follow: async (watcher, endBlock = stage.scripted.head) => {
      const watching = watcher === undefined ? {} : { watcher };
      const given = { ...stage, ...watching, clock: systemClock, firstFollowed, endBlock };
      await follow({ ...given, onProgress: () => undefined }, await checkpoint(), AbortSignal.timeout(20_000));
    },
  };
}

/** Rows of every dataset, derived values, blocks and coverage match the canonical chain. */
async function expectTruth({ chain, scripted, checkpoint }: Stage): Promise<void> {
  const { database } = scratch;
  const range = { from: FIRST, to: scripted.head };
  expect(await checkpoint()).toEqual({ number: scripted.head, hash: scripted.blockAt(scripted.head)?.hash });
  expect(await storedOutcomes(database, chain.id)).toEqual(expectedOutcomes(scripted, range));
  expect(await storedPayments(database, chain.id)).toEqual(expectedPayments(scripted, range));
  expect(await misderived(database, chain.id)).toEqual([]);
  const [marked] = await database.query<{ rows: number }>(
    sql`SELECT count(*)::int AS rows FROM marks WHERE chain_id = ${chain.id}`,
  );
  expect(marked?.rows).toBe(scripted.expectedTransfers(range).length);
  const stored = await database.query<{ hash: Hash }>(
    sql`SELECT '0x' || encode(block_hash, 'hex') AS hash FROM blocks WHERE chain_id = ${chain.id} ORDER BY block_number`,
  );
  expect(stored.map(({ hash }) => hash)).toEqual(scripted.blocksIn(range).map(({ hash }) => hash));
  const covered = await database.query(
    sql`SELECT dataset, min(first_block) AS first, max(last_block) AS last, sum(last_block - first_block + 1)::int AS blocks FROM sync_ranges WHERE chain_id = ${chain.id} GROUP BY dataset ORDER BY dataset`,
  );
  const all = { first: range.from, last: range.to, blocks: range.to - range.from + 1 };
  expect(covered).toEqual(['marks', 'outcomes', 'payments'].map((dataset) => ({ dataset, ...all })));
}

describe('the follower', () => {
  it('follows a linear chain, from its first block on and further', async () => {
    const stage = await openStage(30);
    await stage.follow();
    await expectTruth(stage);
    stage.scripted.mine(80);
    await stage.follow();
    await expectTruth(stage);
    await stage.follow();
    await expectTruth(stage);
    expect(await stage.reorgs()).toBeUndefined();
    const range = { from: FIRST, to: stage.scripted.head };
    expect(await stage.rowsCounted()).toBe(stage.scripted.expectedTransfers(range).length);
  });

  it.each([
    ['of one block', 1, 2],
    ['as deep as is allowed', REORG_DEPTH_MAX, REORG_DEPTH_MAX + 1],
    ['by a much longer branch', 3, 90],
  ])('replaces a branch by another one: a reorganisation %s', async (_what, depth, length) => {
    const stage = await openStage(30);
    await stage.follow();
    stage.scripted.reorg(depth, length);
    await stage.follow();
    await expectTruth(stage);
    expect(await stage.reorgs()).toBe('1');
  });

  // Invariant: SYNC-PARENT-CHECKPOINT
  it('replaces branches of branches: one reorganisation after another, none of which it had caught up with', async () => {
    const stage = await openStage(30);
    await stage.follow();
    stage.scripted.reorg(4, 6);
    stage.scripted.reorg(2, 1);
    stage.scripted.reorg(5, 9);
    await stage.follow();
    await expectTruth(stage);
  });

  it('reads a block that is announced while the one before it is being read', async () => {
    const stage = await openStage(30);
    await stage.follow();
    stage.scripted.mine(1);
    const [first, second] = [stage.scripted.head, stage.scripted.head + 1];
    const isRequested = Promise.withResolvers<void>();
    const untilRequested: Move = ([number, whole]) => {
      if (Number(number) === second && whole === true) isRequested.resolve();
      else stage.beforeNext('eth_getBlockByNumber', untilRequested);
    };
    // The node responds to the first request only after it received the second.
    stage.beforeNext('eth_getBlockReceipts', () => {
      stage.scripted.mine(1);
      stage.beforeNext('eth_getBlockByNumber', untilRequested);
      return isRequested.promise;
    });
    await stage.follow(undefined, second);
    expect(await stage.checkpoint()).toMatchObject({ number: second });
    expect(first).toBe(second - 1);
    await expectTruth(stage);
  });

  it('goes on when the chain is reorganised while a branch is read', async () => {
    const stage = await openStage(30);
    await stage.follow();
    stage.scripted.reorg(3, 6);
    const { head } = stage.scripted;
    stage.beforeNext('eth_getBlockByHash', () => stage.scripted.reorg(5, 5));
    await stage.follow();
    expect(stage.scripted.head).toBe(head);
    await expectTruth(stage);
  });

  it('goes on when the chain is reorganised between a block and its traces', async () => {
    const stage = await openStage(30);
    await stage.follow();
    stage.scripted.mine(6);
    stage.beforeNext('debug_traceBlockByHash', () => stage.scripted.reorg(4, 4));
    await stage.follow();
    stage.scripted.mine(1);
    await stage.follow();
    await expectTruth(stage);
  });

  // Invariant: SYNC-REORG-LIMIT
  it('stops at a reorganisation that is deeper than what is rolled back without asking, and keeps what it had', async () => {
    const stage = await openStage(40);
    await stage.follow();
    const before = await storedOutcomes(scratch.database, stage.chain.id);
    stage.scripted.reorg(REORG_DEPTH_MAX + 1, REORG_DEPTH_MAX + 3);
    await expect(stage.follow()).rejects.toMatchObject({ code: 'REORG_TOO_DEEP' });
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual(before);
  });

  // Invariant: PROOF-SAME-CHAIN
  it('stops at a chain that was restarted with its id, names both hashes, and keeps what it had', async () => {
    const stage = await openStage(40);
    await stage.follow();
    const before = await storedOutcomes(scratch.database, stage.chain.id);
    const old = stage.scripted.blockAt(FIRST)?.hash;
    stage.scripted.reorg(40, 45);
    const message = new RegExp(
      `Block ${FIRST} .* is ${old} .* and ${stage.scripted.blockAt(FIRST)?.hash} at all`,
    );
    const reset = { code: 'CHAIN_RESET', message: expect.stringMatching(message) };
    await expect(stage.follow()).rejects.toMatchObject(reset);
    const { signal } = new AbortController();
    // The head of a chain that has just begun is below the checkpoint.
    await expect(requireNotReset(stage, FIRST, signal)).rejects.toMatchObject(reset);
    await expect(requireNotReset(stage, FIRST - 1, signal)).resolves.toBeUndefined();
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual(before);
  });

  // Invariant: PROOF-SAME-CHAIN
  it('stops at a restarted chain whose head is below all stored blocks', async () => {
    const stage = await openStage(60, 50);
    await stage.follow();
    const before = await storedOutcomes(scratch.database, stage.chain.id);
    stage.scripted.reorg(60, 10);
    const reset = {
      code: 'CHAIN_RESET',
      message: expect.stringMatching(/^Block 50 .* above the head 10 at all/),
    };
    await expect(stage.follow(undefined, 70)).rejects.toMatchObject(reset);
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual(before);
  });

  it('is compared with a node by one call for many ranges that wait for it', async () => {
    const stage = await openStage(30);
    await stage.follow();
    const before = stage.callsOf('eth_getBlockByNumber');
    const read = { range: { from: FIRST, to: 20 }, upstreams: [stage.pool.status()[0]?.name ?? ''] };
    const { signal } = new AbortController();
    // The first call ends after the other ranges wait for it: connections are given in the order of requests.
    stage.beforeNext('eth_getBlockByNumber', async () => {
      for (let reads = 0; reads < 60; reads++) await readFollowedBlock(stage.database, stage.chain.id);
    });
    await Promise.all(Array.from({ length: 60 }, () => requireUpstreams(stage, read, signal)));
    // The running call, and one for all that began to wait while it ran.
    expect(stage.callsOf('eth_getBlockByNumber')).toBe(before + 2);
    const after = stage.callsOf('eth_getBlockByNumber');
    await requireUpstreams(stage, read, signal);
    expect(stage.callsOf('eth_getBlockByNumber')).toBe(after + 1);
  });

  it('writes nothing of blocks whose commit did not come to its end, and all of them the next time', async () => {
    const stage = await openStage(30);
    await stage.follow();
    const before = await storedPayments(scratch.database, stage.chain.id);
    const crashing: BlockWatcher = {
      needs: async () => ({ transactions: false, internalTransfers: false }),
      committed: async () => {
        throw new Error('The process ended before the commit');
      },
      rolledBack: async () => undefined,
    };
    for (const move of [() => stage.scripted.mine(5), () => stage.scripted.reorg(4, 6)]) {
      const stood = await stage.checkpoint();
      move();
      await expect(stage.follow(crashing)).rejects.toThrow('ended before the commit');
      expect(await stage.checkpoint()).toEqual(stood);
    }
    expect(await storedPayments(scratch.database, stage.chain.id)).toEqual(before);
    await stage.follow();
    await expectTruth(stage);
  });

  it('goes on past transactions that contradict their header, which datasets of them lack', async () => {
    const stage = await openStage(30);
    const lied =
      stage.scripted.blocksIn({ from: 12, to: 30 }).find(({ transactions }) => transactions.length > 0)?.number ??
      0;
    stage.lieAbout(lied);
    await stage.follow();
    expect((await stage.checkpoint())?.number).toBe(30);
    const covered = async (dataset: string) =>
      (
        await scratch.database.query<{ at: number }>(
          sql`SELECT 1 AS at FROM sync_ranges WHERE chain_id = ${stage.chain.id} AND dataset = ${dataset} AND ${lied} BETWEEN first_block AND last_block`,
        )
      ).length;
    expect([await covered('marks'), await covered('outcomes'), await covered('payments')]).toEqual([1, 0, 0]);
    const reported = (range: { from: number; to: number }) => expectedOutcomes(stage.scripted, range);
    expect(await storedOutcomes(scratch.database, stage.chain.id)).toEqual(
      [...reported({ from: FIRST, to: lied - 1 }), ...reported({ from: lied + 1, to: 30 })].sort(),
    );
    expect(stage.pool.status()[0]?.faults['transaction-hash-mismatch']).toBe(1);
  });

  it('believes finality that lies ahead of it: blocks are final when it comes to them', async () => {
    const stage = await openStage(120);
    expect(await stage.pool.getFinalized()).toBeGreaterThan(FIRST + 40);
    await stage.follow();
    await expectTruth(stage);
  });
});

describe('a block whose receipts no response can hold', () => {
  const TOO_LARGE = { error: { code: -32008, message: 'Response is too big' } } as const;

  async function followPast(refuses: (method: string) => boolean) {
    const refused = new Set<unknown>();
    const stage = await openScriptedStage(scratch.database, nextChainId++, ALL, {
      blocks: 30,
      facts: { pollIntervalMs: 10 },
      firstFollowed: FIRST,
      answer: (method, params, own) =>
        refuses(method) && refused.has(params[0]) ? Promise.resolve(TOO_LARGE) : own(params),
    });
    onTestFinished(() => stage.close());
    const isWanted = (number: number) => (stage.scripted.blockAt(number)?.transactions.length ?? 0) > 0;
    const number = [12, 13, 14, 15, 16, 17, 18].find(isWanted) ?? Number.NaN;
    const { hash, header, transactions } = stage.scripted.blockAt(number) ?? {};
    for (const key of [hash, header?.number, ...(transactions ?? []).map((transaction) => transaction.hash)])
      refused.add(key);
    const given = { ...stage, clock: systemClock, firstFollowed: FIRST, endBlock: 30 };
    await follow({ ...given, onProgress: () => undefined }, null, AbortSignal.timeout(20_000));
    const covered = await Promise.all(ALL.map(async (dataset) => (await stage.coverageOf(dataset)).ranges));
    return { stage, number, covered, marks: await stage.marksOf(FIRST, 30) };
  }

  it('is read receipt by receipt', async () => {
    const {
      stage,
      number,
      covered,
      marks: found,
    } = await followPast((method) => method === 'eth_getBlockReceipts');
    expect(covered).toEqual(ALL.map(() => [{ from: FIRST, to: 30 }]));
    expect(found.stored).toBe(found.expected);
    expect(stage.callsOf('eth_getTransactionReceipt')).toBe(stage.scripted.blockAt(number)?.transactions.length);
  });

  it('is a gap if a receipt is too large as well, and later blocks continue', async () => {
    const { stage, number, covered } = await followPast((method) =>
      /^eth_get(BlockReceipts|TransactionReceipt)$/.test(method),
    );
    expect(covered).toEqual(
      ALL.map(() => [
        { from: FIRST, to: number - 1 },
        { from: number + 1, to: 30 },
      ]),
    );
    expect((await readChainState(stage.database, stage.chain.id))?.checkpoint?.number).toBe(30);
    expect(stage.pool.status()[0]?.state).toBe('healthy');
  });
});
