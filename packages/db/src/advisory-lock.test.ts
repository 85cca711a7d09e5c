import { once } from 'node:events';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { advisoryKey, transactionLock, tryAcquireLeadership } from './advisory-lock.ts';

describe('leadership', () => {
  let scratch: ScratchDatabase;
  const key = advisoryKey('test', 8453);

  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());

  test('has one holder at a time, and is free after its release', async () => {
    const first = await tryAcquireLeadership(scratch.database, key);
    expect(first).not.toBeNull();
    expect(await tryAcquireLeadership(scratch.url, key)).toBeNull();
    const other = await tryAcquireLeadership(scratch.url, advisoryKey('test', 1));
    expect(other).not.toBeNull();
    await first?.release();
    await first?.release();
    expect(first?.lost.aborted).toBe(false);
    await vi.waitFor(async () => {
      const second = await tryAcquireLeadership(scratch.url, key);
      expect(second).not.toBeNull();
      await second?.release();
    });
    await other?.release();
  });

  test('is lost, aloud, when its connection breaks, and can be won by another', async () => {
    const leader = await tryAcquireLeadership(scratch.url, key);
    if (leader === null) throw new Error('the lock is free');
    const lost = once(leader.lost, 'abort');
    // Of this database: other tests use the same server, and migrations hold such locks.
    await scratch.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await lost;
    expect(leader.lost.reason).toMatchObject({ code: 'LEADERSHIP_LOST', retryable: true });
    await leader.release();
    // The server may free it a moment after the connection has ended here.
    const next = await vi.waitFor(
      async () => {
        const won = await tryAcquireLeadership(scratch.url, key);
        if (won === null) throw new Error('the lock is still taken');
        return won;
      },
      { timeout: 20_000 },
    );
    await next.release();
  });

  test('leaves no connection behind when the lock is taken', async () => {
    const leader = await tryAcquireLeadership(scratch.url, key);
    for (let attempt = 0; attempt < 5; attempt += 1) await tryAcquireLeadership(scratch.database, key);
    await vi.waitFor(
      async () => {
        const rows = await scratch.database.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()`,
        );
        expect(rows).toHaveLength(1);
      },
      { timeout: 20_000 },
    );
    await leader?.release();
  });

  test('a server that is not there is an error', async () => {
    await expect(tryAcquireLeadership('postgres://nobody:x@127.0.0.1:1/none', key)).rejects.toThrow();
  });
});

describe('transaction lock', () => {
  test('lets one transaction in at a time', async () => {
    const scratch = await createScratchDatabase();
    const key = advisoryKey('turns', 1);
    const events: string[] = [];
    const turn = (name: string) =>
      scratch.database.transaction(async (transaction) => {
        await transactionLock(transaction, key);
        events.push(`${name} in`);
        await transaction.query('SELECT pg_sleep(0.02)');
        events.push(`${name} out`);
      });
    await Promise.all(['a', 'b', 'c'].map(turn));
    for (let index = 0; index < events.length; index += 2) {
      expect(events[index + 1]).toBe(events[index]?.replace('in', 'out'));
    }
    expect(events).toHaveLength(6);
    await scratch.drop();
  });
});

describe('advisory key', () => {
  test('is the same in every process, differs by namespace and id, and fits a bigint', () => {
    expect(advisoryKey('sync', 8453)).toBe(advisoryKey('sync', 8453n));
    const keys = new Set([
      advisoryKey('sync', 1),
      advisoryKey('sync', 10),
      advisoryKey('sync1', 0),
      advisoryKey('prices', 1),
    ]);
    expect(keys.size).toBe(4);
    for (const key of keys) expect(BigInt.asIntN(64, key)).toBe(key);
  });
});
