import { silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readGatewayUsage } from './read-usage.ts';
import { createUsageCounter, type UsageCounter } from './usage-counter.ts';

const DAY_MS = 86_400_000;

let scratch: ScratchDatabase;
let now: number;

beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  now = Date.now();
  await scratch.database.query('TRUNCATE gateway_usage');
});

function counterOn(database: Database): UsageCounter {
  return createUsageCounter({ database, logger: silentLogger(), clock: { now: () => now } });
}

function count(counter: UsageCounter, method: string, calls: number): void {
  const entry = counter.entry('0123abcd', 1, method);
  entry.calls += calls;
  entry.weight += 2 * calls;
  entry.bytes += 100 * calls;
}

describe('usage', () => {
  test('of several processes and flushes is added up by key, day, chain and method', async () => {
    const [one, other] = [counterOn(scratch.database), counterOn(scratch.database)];
    count(one, 'eth_call', 2);
    await one.flush();
    count(one, 'eth_call', 1);
    count(one, 'eth_gasPrice', 1);
    count(other, 'eth_call', 4);
    other.entry('0123abcd', 8453, 'eth_call').errors += 1;
    await Promise.all([one.close(), other.close()]);
    const today = new Date(now).toISOString().slice(0, 10);
    const zero = { keyId: '0123abcd', day: today, chainId: 1, errors: 0, cached: 0 };
    expect(await readGatewayUsage(scratch.database, 1)).toEqual([
      { ...zero, method: 'eth_call', calls: 7, weight: 14, bytes: 700 },
      { ...zero, method: 'eth_gasPrice', calls: 1, weight: 2, bytes: 100 },
      { ...zero, chainId: 8453, method: 'eth_call', calls: 0, errors: 1, weight: 0, bytes: 0 },
    ]);
    expect(await scratch.database.query('SELECT sum(calls)::int AS calls FROM analytics.gateway_usage')).toEqual([
      { calls: 8 },
    ]);
  });

  test('is read for the days that are asked for', async () => {
    const counter = counterOn(scratch.database);
    now -= 3 * DAY_MS;
    await counter.flush();
    count(counter, 'eth_call', 5);
    await counter.flush();
    now += 3 * DAY_MS;
    await counter.flush();
    count(counter, 'eth_call', 1);
    await counter.close();
    const calls = async (days: number) => (await readGatewayUsage(scratch.database, days)).map((row) => row.calls);
    expect(await calls(1)).toEqual([1]);
    expect(await calls(3)).toEqual([1]);
    expect(await calls(4)).toEqual([1, 5]);
  });

  test('that can not be written is kept for the next time', async () => {
    let isAway = true;
    const database: Database = {
      ...scratch.database,
      query: (text, values) =>
        isAway ? Promise.reject(new Error('connection lost')) : scratch.database.query(text, values),
    };
    const counter = counterOn(database);
    count(counter, 'eth_call', 3);
    await counter.flush();
    count(counter, 'eth_call', 1);
    isAway = false;
    await counter.close();
    expect(await readGatewayUsage(scratch.database, 1)).toMatchObject([{ method: 'eth_call', calls: 4, bytes: 400 }]);
  });
});
