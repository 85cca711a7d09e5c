import { type Hash, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { Answer, Head, UpstreamPool } from '@chainstead/rpc';
import { createSeededRandom } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createHeadFloor, type HeadFloor } from './head-floor.ts';
import { createHeadStore, type HeadStore } from './head-store.ts';

/** Different in each test, so that late writes of earlier tests don't interfere. */
let chainId = 1000;

/** A pool whose newest head the test sets. */
interface SteeredPool extends Pick<UpstreamPool, 'getHead' | 'getFinalized' | 'waitForHead'> {
  move(number: number, branch?: string): void;
  finalize(number: number | null): void;
  readonly headReads: number;
}

function steeredPool(start: number): SteeredPool {
  let finalized: number | null = null;
  let head = blockOf(start, 'a');
  let moved = Promise.withResolvers<void>();
  let headReads = 0;
  const answer = (): Answer<Head> => ({ value: head, upstream: 'steered' });
  return {
    move(number, branch = 'a') {
      head = blockOf(number, branch);
      moved.resolve();
      moved = Promise.withResolvers();
    },
    finalize(number) {
      finalized = number;
    },
    get headReads() {
      return headReads;
    },
    async getHead() {
      headReads++;
      return answer();
    },
    getFinalized: async () => finalized,
    async waitForHead(after, signal) {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      // The promise may have no listener when the signal aborts.
      aborted.catch(() => undefined);
      while (after !== null && head.hash === after.hash) await Promise.race([moved.promise, aborted]);
      return answer();
    },
  };
}

function blockOf(number: number, branch: string): Head {
  const hash = (at: number): Hash =>
    `0x${Buffer.from(`${branch}${at}`).toString('hex').padStart(64, '0')}` as Hash;
  return { number, hash: hash(number), parentHash: hash(number - 1), timestamp: number };
}

function floorOver(
  pool: SteeredPool,
  store: HeadStore | null,
  options: { idleMs?: number; storeTimeoutMs?: number } = {},
): HeadFloor {
  const floor = createHeadFloor({
    chain: { id: chainId, key: 'eth', reorgDepthMax: 64 },
    pool,
    store,
    logger: silentLogger(),
    // For slow machines.
    storeTimeoutMs: 30_000,
    ...options,
  });
  onTestFinished(() => floor.close());
  return floor;
}

const scratch = scratchOfFile();
beforeEach(() => {
  chainId++;
});

describe('heads shared through Postgres', () => {
  test('publications only raise what is kept, of both numbers', async () => {
    const store = createHeadStore({ database: scratch.database });
    expect(await store.read(chainId)).toBeNull();
    expect(await store.publish(chainId, { head: 10, finalized: null })).toEqual({ head: 10, finalized: null });
    expect(await store.publish(chainId, { head: 9, finalized: 4 })).toEqual({ head: 10, finalized: 4 });
    expect(await store.publish(chainId, { head: 11, finalized: null })).toEqual({ head: 11, finalized: 4 });
    expect(await store.publish(chainId, { head: 11, finalized: 3 })).toEqual({ head: 11, finalized: 4 });
    expect(await store.read(chainId)).toEqual({ head: 11, finalized: 4 });
    expect(await store.read(chainId + 1)).toBeNull();
  });

  // Invariant: GATEWAY-HEAD-FLOOR
  test('a client that hops between processes never sees the head go backwards', { timeout: 60_000 }, async () => {
    const random = createSeededRandom('heads');
    const store = createHeadStore({ database: scratch.database });
    const pools = [100, 97, 103, 90].map(steeredPool);
    const floors = pools.map((pool) => floorOver(pool, store));
    const controller = new AbortController();
    const moving = (async () => {
      for (let top = 100; !controller.signal.aborted; top += 1) {
        for (const pool of pools) pool.move(top - random.integer(0, 12), random.integer(0, 1) === 0 ? 'a' : 'b');
        await new Promise(setImmediate);
      }
    })();
    let latest = 0;
    let finalized = 0;
    let reads = 0;
    const client = async (): Promise<void> => {
      for (let index = 0; index < 150; index++) {
        const before = { latest, finalized };
        const floor = floors[random.integer(0, floors.length - 1)];
        const pinned = await floor?.read();
        if (pinned === undefined) throw new Error('No floor');
        reads++;
        expect(pinned.latest).toBeGreaterThanOrEqual(before.latest);
        expect(pinned.finalized ?? before.finalized).toBeGreaterThanOrEqual(before.finalized);
        latest = Math.max(latest, pinned.latest);
        finalized = Math.max(finalized, pinned.finalized ?? 0);
        pools[random.integer(0, pools.length - 1)]?.finalize(Math.max(0, pinned.latest - random.integer(10, 40)));
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    controller.abort();
    await moving;
    expect(reads).toBe(8 * 150);
    expect(latest).toBeGreaterThan(103);
  });

  test('a process that has seen nothing of a block answers from it once another one published it', async () => {
    const store = createHeadStore({ database: scratch.database });
    const ahead = floorOver(steeredPool(20), store);
    const behind = floorOver(steeredPool(15), store);
    expect(await behind.read()).toEqual({ latest: 15, finalized: null });
    expect(await ahead.read()).toEqual({ latest: 20, finalized: null });
    expect(await behind.read()).toEqual({ latest: 20, finalized: null });
  });

  test('a store that forgot is told again', async () => {
    const store = createHeadStore({ database: scratch.database });
    const floor = floorOver(steeredPool(20), store);
    await floor.read();
    await scratch.database.query(sql`DELETE FROM gateway_heads`);
    expect((await floor.read()).latest).toBe(20);
    expect((await store.read(chainId))?.head).toBe(20);
  });
});

test('while the store is away answers go on, never backwards, and it is told afterwards', async () => {
  const real = createHeadStore({ database: scratch.database });
  let isAway = false;
  const store: HeadStore = {
    read: (id) => (isAway ? Promise.reject(new Error('away')) : real.read(id)),
    publish: (id, head) => (isAway ? Promise.reject(new Error('away')) : real.publish(id, head)),
  };
  const pool = steeredPool(10);
  const floor = floorOver(pool, store);
  expect((await floor.read()).latest).toBe(10);
  await real.publish(chainId, { head: 12, finalized: null });
  expect((await floor.read()).latest).toBe(12);
  isAway = true;
  expect((await floor.read()).latest).toBe(12);
  pool.move(13);
  await expect.poll(async () => (await floor.read()).latest, { timeout: 30_000 }).toBe(13);
  pool.move(9, 'b');
  expect((await floor.read()).latest).toBe(13);
  isAway = false;
  await expect.poll(async () => (await real.read(chainId))?.head, { timeout: 30_000 }).toBe(13);
});

test('a store that does not answer is not waited for', async () => {
  const store: HeadStore = {
    read: () => new Promise(() => undefined),
    publish: () => new Promise(() => undefined),
  };
  const floor = floorOver(steeredPool(10), store, { storeTimeoutMs: 50 });
  expect((await floor.read()).latest).toBe(10);
});

test('the floor stays when the chain goes back, and the generation tells of every other head', async () => {
  const pool = steeredPool(10);
  const floor = floorOver(pool, createHeadStore({ database: scratch.database }));
  await floor.read();
  const generations = [floor.generation];
  for (const [number, branch] of [
    [10, 'b'],
    [8, 'c'],
    [11, 'c'],
  ] as const) {
    pool.move(number, branch);
    await expect.poll(() => floor.generation, { timeout: 30_000 }).not.toBe(generations.at(-1));
    generations.push(floor.generation);
    expect((await floor.read()).latest).toBe(Math.max(10, number));
  }
  expect(new Set(generations).size).toBe(4);
});

test('a block that an answer tells of raises the floor first, unless the pool knows nothing of it', async () => {
  const pool = steeredPool(10);
  const store = createHeadStore({ database: scratch.database });
  const floor = floorOver({ ...pool, waitForHead: () => new Promise(() => undefined) }, store);
  await floor.read();
  pool.move(11);
  await floor.reveal(11);
  expect(floor.latest).toBe(11);
  expect((await store.read(chainId))?.head).toBe(11);
  await floor.reveal(1_000_000);
  expect((await floor.read()).latest).toBe(11);
});

test('blocks are final by tag, or by depth where there is no tag', async () => {
  const pool = steeredPool(100);
  const floor = floorOver(pool, null);
  expect(floor.finalBlock).toBeNull();
  await floor.read();
  expect(floor.finalBlock).toBe(36);
  pool.finalize(90);
  await expect
    .poll(
      () => {
        pool.move((floor.latest ?? 100) + 1);
        return floor.finalBlock;
      },
      { timeout: 30_000 },
    )
    .toBe(90);
});

test('a chain that nobody uses is not followed, and followed again when used', async () => {
  const pool = steeredPool(10);
  const floor = floorOver(pool, null, { idleMs: 20 });
  await floor.read();
  const { generation } = floor;
  await expect.poll(() => floor.generation, { timeout: 30_000 }).not.toBe(generation);
  pool.move(11);
  expect(floor.latest).toBe(10);
  expect((await floor.read()).latest).toBe(11);
  expect(pool.headReads).toBe(2);
});

test('without any head the pool tells why', async () => {
  const failing = new Error('all down');
  const pool = { ...steeredPool(1), getHead: () => Promise.reject(failing) };
  await expect(floorOver(pool, createHeadStore({ database: scratch.database })).read()).rejects.toBe(failing);
});
