/** Streams of one key exceed the work of a block: others are matched with the block, these later. */

import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createDueWork } from '@chainstead/jobs/worker';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addDeferredMatches } from '../historical/deferred-work.ts';
import { ERC20_TRANSFER, exampleStream, TRANSFER_SIGNATURE } from '../matching/testing/example-stream.ts';
import type { WorkBudget } from '../matching/work-budget.ts';
import { readStreamStatuses } from '../records/stats.ts';
import { createStreamAddressStore } from '../records/stream-addresses.ts';
import { createDescribeStreams } from '../records/stream-overviews.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import type { Stream } from '../stream.ts';
import { createStreamsWatcher } from './create-streams-watcher.ts';
import { FOLLOWED_CONFIRMATIONS, openFollowedChain, walletsOf } from './testing/followed-chain.ts';

const scratch = scratchOfFile();
let nextChain = 940_001;

/** A stream without a filter needs less than 1,000 for any block here, one with 300 comparisons more for any. */
const BUDGET: WorkBudget = { perKey: 250, perBlock: 100_000 };
const LONG_FILTER = {
  or: Array.from({ length: 150 }, (_, number) => ({
    and: [{ gte: ['value', '0'] }, { ne: ['to', `0x${number.toString(16).padStart(40, '0')}`] }],
  })),
};

async function open(budget: WorkBudget = BUDGET) {
  const followed = await openFollowedChain(scratch.database, nextChain++);
  onTestFinished(() => followed.close());
  const { chain, pool } = followed;
  const create = (key: string, tag: string, config: Partial<Stream> = {}) =>
    createStreamStore(scratch.database).create(
      {
        ...exampleStream({ includeContractLogs: true, allAddresses: true, sendRemoved: true, tag }),
        ...{ topic0: [TRANSFER_SIGNATURE], abi: [ERC20_TRANSFER], chainIds: [chain.id], description: chain.key },
        ...config,
      },
      exampleActor(key),
    );
  const filtered = { advancedOptions: [{ topic0: TRANSFER_SIGNATURE, filter: LONG_FILTER }] };
  const start = () => {
    const running = followed.start(createStreamsWatcher({ database: scratch.database, budget }));
    onTestFinished(() => running.stop());
    return running;
  };
  const work = (database: Database = scratch.database) => {
    const logger = silentLogger();
    const dueWork = createDueWork({ database, clock: systemClock, logger, metrics: createMetricsRegistry() });
    addDeferredMatches(dueWork, {
      database,
      chains: [{ chain, pool, policy: 'strict' }],
      logger,
      budget,
    });
    dueWork.start();
    const stop = () => dueWork.close(0);
    onTestFinished(stop);
    return { stop };
  };
  return { ...followed, create, filtered, start, work };
}

/** Canonical blocks with a match of the stream, in order. */
async function matchedBlocks({ id }: Stream): Promise<string[]> {
  const rows = await scratch.database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', block_number, encode(block_hash, 'hex'), logs) AS line FROM stream_matches
     WHERE stream_id = ${id} AND removed_at IS NULL ORDER BY block_number`,
  );
  return rows.map(({ line }) => line);
}

async function webhooks({ id }: Stream, kind: string): Promise<number[]> {
  const rows = await scratch.database.query<{ number: number }>(
    sql`SELECT block_number AS number FROM stream_deliveries WHERE stream_id = ${id} AND kind = ${kind} AND status = 'pending' ORDER BY 1`,
  );
  return rows.map(({ number }) => number);
}

async function deferredRows(chainId: number): Promise<{ key: string; blockNumber: number; streams: string[] }[]> {
  return scratch.database.query(
    sql`SELECT key, block_number, streams FROM deferred_matches WHERE chain_id = ${chainId} ORDER BY block_number, key`,
  );
}

/** What is deferred after each of its transactions. */
function watchTransactions(chainId: number) {
  const after: { key: string; blockNumber: number; streams: string[] }[][] = [];
  const database: Database = {
    ...scratch.database,
    async transaction(work) {
      const result = await scratch.database.transaction(work);
      after.push(await deferredRows(chainId));
      return result;
    },
  };
  const nothingLeft = () => vi.waitFor(() => expect(after.at(-1)).toEqual([]), { timeout: 20_000, interval: 10 });
  return { database, after, nothingLeft };
}

const nothingDeferred = (chainId: number) =>
  vi.waitFor(async () => expect(await deferredRows(chainId)).toEqual([]), { timeout: 20_000, interval: 10 });

describe('streams that exceed the work of a key per block', () => {
  // Invariant: STREAM-DEFERRED
  it('are deferred alone: all others are matched in the transaction of the block', async () => {
    const { chain, scripted, caughtUp, create, filtered, start } = await open();
    const long = await create('heavy', 'long', filtered);
    const small = await create('heavy', 'small');
    const other = await create('other', 'other');
    start();
    await caughtUp();
    scripted.mine(8);
    await caughtUp();
    const all = await matchedBlocks(other);
    expect(all.length).toBeGreaterThan(3);
    expect(await matchedBlocks(small)).toEqual(all);
    const early = await matchedBlocks(long);
    const rows = await deferredRows(chain.id);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ key, streams }) => key === 'heavy' && streams.join() === long.id)).toBe(true);
    const deferred = new Set(rows.map(({ blockNumber }) => blockNumber));
    expect(early).toEqual(all.filter((line) => !deferred.has(Number(line.split(' ')[0]))));

    const [described, unaffected] = await createDescribeStreams()(scratch.database, [long, small]);
    expect(described?.statusMessage).toBe(
      `Stream is active. Blocks of chain ${chain.id} to match later, because they exceed the work of a key per block: ${rows.length}, from block ${rows[0]?.blockNumber}`,
    );
    expect(unaffected?.statusMessage).toBe('Stream is active');
    expect(await readStreamStatuses(scratch.database, 1)).toMatchObject({ blocksDeferred: rows.length });
  });

  it('are matched later, after a restart too, with both webhooks of each block', async () => {
    const { chain, scripted, caughtUp, create, filtered, start, work } = await open();
    const streams: Stream[] = [];
    for (const tag of ['a', 'b', 'c']) streams.push(await create('heavy', tag, filtered));
    const other = await create('other', 'other');
    const before = start();
    await caughtUp();
    scripted.mine(6);
    await caughtUp();
    await before.stop();
    expect(await deferredRows(chain.id)).not.toEqual([]);
    const first = work();
    await vi.waitFor(async () => expect((await matchedBlocks(streams[0] as Stream)).length).toBeGreaterThan(0), {
      timeout: 20_000,
      interval: 1,
    });
    await first.stop();
    work();
    await nothingDeferred(chain.id);
    start();
    scripted.mine(FOLLOWED_CONFIRMATIONS + 1);
    await caughtUp();
    await nothingDeferred(chain.id);
    scripted.mine(1);
    await caughtUp();
    await nothingDeferred(chain.id);
    for (const stream of streams) {
      expect(await matchedBlocks(stream)).toEqual(await matchedBlocks(other));
      expect(await webhooks(stream, 'unconfirmed')).toEqual(await webhooks(other, 'unconfirmed'));
      const confirmed = (await webhooks(other, 'confirmed')).filter(
        (number) => number < scripted.head - FOLLOWED_CONFIRMATIONS,
      );
      expect(await webhooks(stream, 'confirmed')).toEqual(expect.arrayContaining(confirmed));
    }
  });

  it('match the blocks of the canonical chain after a reorg, before and after they were matched', async () => {
    const { chain, scripted, caughtUp, create, filtered, start, work } = await open();
    const long = await create('heavy', 'long', filtered);
    const other = await create('other', 'other');
    start();
    await caughtUp();
    scripted.mine(6);
    await caughtUp();
    const old = await deferredRows(chain.id);
    scripted.reorg(3, 4);
    await caughtUp();
    const rows = await deferredRows(chain.id);
    const { head } = scripted;
    expect(old.some(({ blockNumber }) => blockNumber > head - 4)).toBe(true);
    expect(rows.every(({ blockNumber }) => blockNumber <= head)).toBe(true);
    work();
    await nothingDeferred(chain.id);
    expect(await matchedBlocks(long)).toEqual(await matchedBlocks(other));

    await scratch.database.query(
      sql`UPDATE stream_deliveries SET status = 'delivered', delivered_at = now() WHERE chain_id = ${chain.id} AND status = 'pending'`,
    );
    const gone = (await matchedBlocks(long)).filter((line) => Number(line.split(' ')[0]) > head - 2);
    scripted.reorg(2, 3);
    await caughtUp();
    // Invariant: STREAM-REMOVED
    expect(await webhooks(long, 'removed')).toEqual(gone.map((line) => Number(line.split(' ')[0])));
    await nothingDeferred(chain.id);
    expect(await matchedBlocks(long)).toEqual(await matchedBlocks(other));
  });

  it('are all matched if they are more than one turn takes, for several blocks at once', async () => {
    // A key may have 160 items per block.
    const { chain, scripted, caughtUp, create, start, work } = await open({ perKey: 4_800, perBlock: 100_000 });
    const streams: Stream[] = [];
    // A turn compiles 100.
    for (let number = 0; number < 204; number++) streams.push(await create('many', `${number}`));
    const other = await create('other', 'other');
    const running = start();
    await caughtUp();
    await running.stop();
    scripted.mine(3);
    start();
    await caughtUp();
    const deferred = (await deferredRows(chain.id)).filter(({ key }) => key === 'many');
    expect(Math.max(...deferred.map((row) => row.streams.length))).toBeGreaterThan(100);
    work();
    await nothingDeferred(chain.id);
    const [all, due] = [await matchedBlocks(other), await webhooks(other, 'unconfirmed')];
    expect(all.length).toBeGreaterThan(2);
    for (const stream of streams) {
      expect(await matchedBlocks(stream)).toEqual(all);
      expect(await webhooks(stream, 'unconfirmed')).toEqual(due);
    }
  });

  it('read a block once, whatever the number of streams, and record many rounds together', async () => {
    const { chain, scripted, requests, caughtUp, create, filtered, start, work } = await open();
    const streams: Stream[] = [];
    for (let number = 0; number < 20; number++) streams.push(await create('heavy', `${number}`, filtered));
    const other = await create('other', 'other');
    const running = start();
    await caughtUp();
    await running.stop();
    scripted.mine(3);
    const again = start();
    await caughtUp();
    await again.stop();
    const blocks = (await deferredRows(chain.id)).map(({ blockNumber }) => blockNumber);
    expect(blocks.length).toBeGreaterThan(0);
    const before = requests('eth_getBlockReceipts');
    const { database, after, nothingLeft } = watchTransactions(chain.id);
    work(database);
    await nothingLeft();
    expect(requests('eth_getBlockReceipts') - before).toBe(blocks.length);
    // Each stream exceeds the budget, so it has a round. A transaction has eight, or the items of a budget.
    const logs = new Map(
      (await matchedBlocks(other)).map((line) => [Number(line.split(' ')[0]), Number(line.split(' ')[2])]),
    );
    const roundsOf = (block: number) => Math.min(8, Math.ceil((BUDGET.perKey + 1) / 30 / (logs.get(block) ?? 0)));
    expect(after.length).toBe(
      blocks.reduce((sum, block) => sum + Math.ceil(streams.length / roundsOf(block)), 0),
    );
    expect(after.length).toBeLessThan(streams.length * blocks.length);
    for (const stream of streams) expect(await matchedBlocks(stream)).toEqual(await matchedBlocks(other));
  });

  it('are all matched if they watch more shared addresses than a key may have read per block', async () => {
    const followed = await open({ perKey: 400, perBlock: 100_000 });
    const { chain, scripted, caughtUp, create, start, work } = followed;
    const wallets = walletsOf(followed, 0, 12);
    const config = { allAddresses: false, topic0: null };
    const watching = { ...config, includeContractLogs: false, includeNativeTxs: true };
    const streams: Stream[] = [];
    for (let number = 0; number < 22; number++) streams.push(await create('many', `${number}`, watching));
    const other = await create('other', 'other', watching);
    for (const { id } of [...streams, other])
      await createStreamAddressStore(scratch.database).add(id, wallets, exampleActor());
    const running = start();
    await caughtUp();
    scripted.mine(6);
    await caughtUp();
    await running.stop();
    const all = await matchedBlocks(other);
    expect((await deferredRows(chain.id)).every(({ key }) => key === 'many')).toBe(true);
    expect(await deferredRows(chain.id)).not.toEqual([]);
    work();
    await nothingDeferred(chain.id);
    for (const stream of streams) expect(await matchedBlocks(stream)).toEqual(all);
  });

  // Invariant: FAIR-KEYS
  it('of each key have a turn, however many older blocks another key has', async () => {
    const { chain, scripted, caughtUp, create, filtered, start, work } = await open();
    for (let number = 0; number < 12; number++) await create('many', `${number}`, filtered);
    const running = start();
    await caughtUp();
    scripted.mine(8);
    await caughtUp();
    const late = await create('late', 'late', filtered);
    const ofKey = (key: string, rows: Awaited<ReturnType<typeof deferredRows>>) =>
      rows.filter((row) => row.key === key).length;
    let rows = await deferredRows(chain.id);
    while (ofKey('late', rows) < 2) {
      scripted.mine(1);
      await caughtUp();
      rows = await deferredRows(chain.id);
    }
    await running.stop();
    const { database, after, nothingLeft } = watchTransactions(chain.id);
    work(database);
    await nothingLeft();
    // Each of its blocks is a turn, after one of the other key.
    const done = after.findIndex((left) => ofKey('late', left) === 0);
    expect(done).toBeLessThan(4);
    expect(ofKey('many', after[done] ?? [])).toBeGreaterThan(ofKey('many', rows) / 2);
    expect((await matchedBlocks(late)).length).toBeGreaterThanOrEqual(2);
  });
});
