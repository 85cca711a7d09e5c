import { silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { readGatewayUsage, readHourCalls, readMethodCalls } from './read-calls.ts';
import { countTime, createUsageCounter, type UsageCounter } from './usage-counter.ts';

const DAY_MS = 86_400_000;

const scratch = scratchOfFile();
let now: number;

beforeEach(async () => {
  now = Date.now();
  await scratch.database.query(sql`TRUNCATE gateway_usage, gateway_calls`);
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
    expect(
      await scratch.database.query(sql`SELECT sum(calls)::int AS calls FROM analytics.gateway_usage`),
    ).toEqual([{ calls: 8 }]);
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
    const calls = async (days: number) =>
      (await readGatewayUsage(scratch.database, days)).map((row) => row.calls);
    expect(await calls(1)).toEqual([1]);
    expect(await calls(3)).toEqual([1]);
    expect(await calls(4)).toEqual([1, 5]);
  });

  test('that can not be written is kept for the next time', async () => {
    let isAway = true;
    const database: Database = {
      ...scratch.database,
      transaction: (work) =>
        isAway ? Promise.reject(new Error('connection lost')) : scratch.database.transaction(work),
    };
    const counter = counterOn(database);
    count(counter, 'eth_call', 3);
    await counter.flush();
    count(counter, 'eth_call', 1);
    isAway = false;
    await counter.close();
    expect(await readGatewayUsage(scratch.database, 1)).toMatchObject([
      { method: 'eth_call', calls: 4, bytes: 400 },
    ]);
  });

  test('is kept by the hour, chain and method over all keys, with the times of what was not cached', async () => {
    const [one, other] = [counterOn(scratch.database), counterOn(scratch.database)];
    for (const [counter, keyId] of [
      [one, 'a'],
      [one, 'b'],
      [other, 'a'],
    ] as const) {
      const entry = counter.entry(keyId, 1, 'eth_call');
      entry.calls += 4;
      entry.cached += 2;
      entry.errors += 1;
      countTime(entry.times, 4);
      countTime(entry.times, 900);
    }
    await one.flush();
    countTime(one.entry('a', 137, 'eth_gasPrice').times, 60_000);
    one.entry('a', 137, 'eth_gasPrice').calls += 1;
    await Promise.all([one.close(), other.close()]);
    const methods = await readMethodCalls(scratch.database, { hours: 2 });
    expect(methods).toEqual([
      { chainId: 1, method: 'eth_call', calls: 12, errors: 3, cached: 6, half: 5, most: expect.any(Number) },
      { chainId: 137, method: 'eth_gasPrice', calls: 1, errors: 0, cached: 0, half: 30_000, most: 30_000 },
    ]);
    expect(methods[0]?.most).toBeGreaterThan(500);
    expect(methods[0]?.most).toBeLessThanOrEqual(1_000);
    expect(await readMethodCalls(scratch.database, { hours: 2, chainId: 137 })).toHaveLength(1);
    expect(await readHourCalls(scratch.database, { hours: 2 })).toEqual([
      { hour: expect.any(Date), calls: 13, errors: 3, cached: 6 },
    ]);
  });

  test('is kept by the hour for a week', async () => {
    await scratch.database.query(
      sql`INSERT INTO gateway_calls SELECT date_trunc('hour', now()) - make_interval(hours => ago), 1, 'eth_call', 1, 0, 0, '{1}'
         FROM generate_series(0, 400) AS ago`,
    );
    const counter = counterOn(scratch.database);
    count(counter, 'eth_call', 1);
    await counter.close();
    const [kept] = await scratch.database.query<{ hours: number }>(
      sql`SELECT count(*)::int AS hours FROM gateway_calls`,
    );
    expect(kept?.hours).toBeGreaterThanOrEqual(168);
    expect(kept?.hours).toBeLessThanOrEqual(169);
    expect(await readHourCalls(scratch.database, { hours: 24 })).toHaveLength(24);
  });
});
