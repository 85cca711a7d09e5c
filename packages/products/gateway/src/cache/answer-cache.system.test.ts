import { silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAnswerCache } from './answer-cache.ts';
import {
  type AnswerStore,
  type AnswerStoreLimits,
  createAnswerStore,
  type StoredAnswer,
} from './answer-store.ts';
import { createStoredAnswers } from './stored-answers.ts';

const scratch = scratchOfFile();
/** An empty store. */
async function open(limits: Partial<AnswerStoreLimits> = {}): Promise<AnswerStore> {
  await scratch.database.query(sql`TRUNCATE gateway_answers`);
  return createAnswerStore({ database: scratch.database, limits });
}

function answer(number: number, bytes = 10): StoredAnswer {
  const callHash = Buffer.alloc(32);
  callHash.writeUInt32BE(number);
  return { chainId: 1, callHash, result: Buffer.from(`"${String(number).padEnd(bytes - 2, ' ')}"`) };
}

const noPause = async (): Promise<void> => undefined;

describe('stored answers', () => {
  test('are found by chain and call, in the order asked', async () => {
    const store = await open();
    await store.write([answer(1), answer(2), answer(3)]);
    await store.write([answer(2), answer(4)]);
    const wanted = [answer(3), answer(9), { ...answer(1), chainId: 2 }, answer(1)];
    expect(await store.read(wanted)).toEqual([answer(3).result, null, null, answer(1).result]);
  });

  test('are removed when they are older than allowed', async () => {
    const store = await open({ days: 7 });
    await store.write(Array.from({ length: 1_500 }, (_, number) => answer(number)));
    expect(await store.prune(noPause)).toBe(0);
    await scratch.database.query(sql`UPDATE gateway_answers SET stored_at = stored_at - interval '8 days'`);
    await store.write([answer(5_000)]);
    expect(await store.prune(noPause)).toBe(1_500);
    expect(await store.read([answer(1), answer(5_000)])).toEqual([null, answer(5_000).result]);
  });

  test('are removed, the oldest first, when they are more than allowed', async () => {
    const store = await open({ bytes: 2_000_000 });
    for (let number = 0; number < 4_000; number += 100)
      await store.write(Array.from({ length: 100 }, (_, index) => answer(number + index, 1_000)));
    await store.prune(noPause);
    await store.prune(noPause);
    const found = await store.read(Array.from({ length: 4_000 }, (_, number) => answer(number, 1_000)));
    const kept = found.filter((result) => result !== null).length;
    expect(kept).toBeLessThan(2_400);
    // Removed in whole steps.
    expect(kept).toBeGreaterThan(600);
    expect(await store.read([answer(0, 1_000), answer(3_999, 1_000)])).toEqual([
      null,
      answer(3_999, 1_000).result,
    ]);
  });

  test('outlive the process that kept them', async () => {
    const store = await open();
    const options = { store, clock: systemClock, logger: silentLogger(), readTimeoutMs: 30_000 };
    const before = createStoredAnswers(options);
    const cache = createAnswerCache({ stored: before, clock: systemClock });
    cache.keepForGood(1, 'eth_x[1', Buffer.from('"kept"'));
    await before.close();
    const after = createStoredAnswers(options);
    onTestFinished(() => after.close());
    const restarted = createAnswerCache({ stored: after, clock: systemClock });
    expect(restarted.get('eth_x[1', 0)).toBeUndefined();
    expect((await restarted.find(1, 'eth_x[1'))?.toString()).toBe('"kept"');
    expect(await restarted.find(1, 'eth_x[2')).toBeUndefined();
    expect(restarted.get('eth_x[1', 0)?.toString()).toBe('"kept"');
  });
});

describe('createAnswerCache', () => {
  test('an answer until the next head is gone with it, one for good stays', () => {
    const cache = createAnswerCache({ clock: systemClock });
    cache.keepUntilNextHead('recent', Buffer.from('1'), 7);
    cache.keepForGood(1, 'final', Buffer.from('2'));
    expect([cache.get('recent', 7)?.toString(), cache.get('final', 7)?.toString()]).toEqual(['1', '2']);
    expect([cache.get('recent', 8), cache.get('final', 8)?.toString()]).toEqual([undefined, '2']);
  });

  test('an answer kept for a time is gone after it', () => {
    let now = 1_000;
    const cache = createAnswerCache({ clock: { now: () => now } });
    cache.keepUntilNextHead('price', Buffer.from('1'), 0, 500);
    now += 499;
    expect(cache.get('price', 0)?.toString()).toBe('1');
    now += 1;
    expect(cache.get('price', 0)).toBeUndefined();
  });

  test('memory is bounded by bytes, and large results are not kept', () => {
    const cache = createAnswerCache({ bytesMax: 100_000, clock: systemClock });
    for (let index = 0; index < 1_000; index++) cache.keepForGood(1, `key ${index}`, Buffer.alloc(1_000));
    expect(cache.bytes).toBeLessThanOrEqual(100_000);
    expect(cache.get('key 0', 0)).toBeUndefined();
    expect(cache.get('key 999', 0)?.length).toBe(1_000);
    const roomy = createAnswerCache({ clock: systemClock });
    roomy.keepForGood(1, 'large', Buffer.alloc(1024 * 1024 + 1));
    expect(roomy.get('large', 0)).toBeUndefined();
  });

  test('a kept answer does not hold the buffer that it came in', () => {
    const cache = createAnswerCache({ clock: systemClock });
    const arrived = Buffer.from('x'.repeat(70_000));
    cache.keepForGood(1, 'key', arrived.subarray(10, 20));
    expect(cache.get('key', 0)?.buffer.byteLength).toBe(10);
  });
});

describe('createStoredAnswers', () => {
  const failing: AnswerStore = {
    read: () => Promise.reject(new Error('away')),
    write: () => Promise.reject(new Error('away')),
    prune: () => Promise.reject(new Error('away')),
  };

  test('a store that fails is told of once, left alone for a while and otherwise ignored', async () => {
    const logger = silentLogger();
    const warn = vi.spyOn(logger, 'warn');
    const stored = createStoredAnswers({ store: failing, clock: systemClock, logger });
    expect(await stored.find(1, 'a')).toBeUndefined();
    expect(stored.find(1, 'b')).toBeUndefined();
    stored.keep(1, 'c', Buffer.from('1'));
    await stored.close();
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test('a store that does not answer is not waited for', async () => {
    const stored = createStoredAnswers({
      store: { ...failing, read: () => new Promise(() => undefined) },
      clock: systemClock,
      logger: silentLogger(),
    });
    onTestFinished(() => stored.close());
    expect(await stored.find(1, 'a')).toBeUndefined();
  });

  test('reads of one moment go together', async () => {
    const sizes: number[] = [];
    const store: AnswerStore = {
      ...failing,
      async read(wanted) {
        sizes.push(wanted.length);
        return wanted.map(() => null);
      },
    };
    const stored = createStoredAnswers({ store, clock: systemClock, logger: silentLogger() });
    onTestFinished(() => stored.close());
    await Promise.all(Array.from({ length: 600 }, (_, index) => stored.find(1, `key ${index}`)));
    expect(sizes).toEqual([256, 256, 88]);
  });
});
