import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHostLeases, type HostLeases } from './host-queues.ts';

/** No lease expires during a test. */
const LEASE_MS = 600_000;
const HOST = 'https://receiver.example';

const scratch = scratchOfFile();
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  await scratch.database.query(sql`TRUNCATE webhook_host_leases`);
});
afterEach(() => void vi.useRealTimers());

const processOf = (): HostLeases =>
  createHostLeases({ database: scratch.database, logger: silentLogger(), leaseMs: LEASE_MS });
/** Advances the process clocks and the database clock. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await scratch.database.query(
    sql`UPDATE webhook_host_leases SET held_until = held_until - ${ms} * interval '1 millisecond'`,
  );
}
const runOut = () => pass(LEASE_MS + 50);

test('of many processes that want a host one gets it', async () => {
  const processes = Array.from({ length: 8 }, () => processOf());
  const taken = await Promise.all(processes.map((leases) => leases.take(HOST)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  const seen = await Promise.all(processes.map((leases) => leases.heldByOthers()));
  expect(seen.map((held) => held.has(HOST))).toEqual(taken.map((mine) => !mine));
  expect(await processOf().take('https://another.example')).toBe(true);
});

test('a host that is let go is free at once, and one that is renewed is not', async () => {
  const [first, second] = [processOf(), processOf()];
  await first.take(HOST);
  for (let times = 0; times < 4; times += 1) {
    await pass(0.8 * LEASE_MS);
    await first.renew();
    expect(first.isHeld(HOST)).toBe(true);
    expect(await second.take(HOST)).toBe(false);
  }
  await first.letGo(HOST);
  expect(first.isHeld(HOST)).toBe(false);
  expect(await second.take(HOST)).toBe(true);
});

test('a host of a process that does not renew is another one’s after a while, and stays that one’s', async () => {
  const [stalled, other] = [processOf(), processOf()];
  await stalled.take(HOST);
  await runOut();
  expect(stalled.isHeld(HOST)).toBe(false);
  expect(await other.take(HOST)).toBe(true);
  await stalled.renew();
  expect(stalled.isHeld(HOST)).toBe(false);
  await stalled.letGo(HOST);
  const [row] = await scratch.database.query<{ held: number }>(
    sql`SELECT count(*) AS held FROM webhook_host_leases`,
  );
  expect(row).toEqual({ held: 1 });
});

test('a lease that ran out unnoticed is held again once it is renewed', async () => {
  const leases = processOf();
  await leases.take(HOST);
  await runOut();
  expect(leases.isHeld(HOST)).toBe(false);
  await leases.renew();
  expect(leases.isHeld(HOST)).toBe(true);
});
