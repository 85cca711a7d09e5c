import { silentLogger } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHostLeases, type HostLeases } from './host-leases.ts';
import { type MovedClock, movedClock } from './testing/delivery-stage.ts';

const LEASE_MS = 10_000;
const HOST = 'https://receiver.example';

let scratch: ScratchDatabase;
let clock: MovedClock;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  await scratch.database.query('TRUNCATE webhook_host_leases');
  clock = movedClock();
});

const processOf = (): HostLeases =>
  createHostLeases({ database: scratch.database, clock, logger: silentLogger(), leaseMs: LEASE_MS });

test('of many processes that want a host one gets it', async () => {
  const processes = Array.from({ length: 8 }, processOf);
  const taken = await Promise.all(processes.map((leases) => leases.take(HOST)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(processes.map((leases) => leases.isHeld(HOST))).toEqual(taken);
  expect(await processOf().take('https://another.example')).toBe(true);
});

test('a host that is let go is free at once, and one that is renewed is not', async () => {
  const [first, second] = [processOf(), processOf()];
  await first.take(HOST);
  for (let turn = 0; turn < 3; turn++) {
    clock.advance(LEASE_MS - 1_000);
    await first.renew();
    expect(await second.take(HOST)).toBe(false);
  }
  expect(first.isHeld(HOST)).toBe(true);
  await first.letGo(HOST);
  expect(first.isHeld(HOST)).toBe(false);
  expect(await second.take(HOST)).toBe(true);
});

test('a host of a process that does not renew is another one’s after a while, and stays that one’s', async () => {
  const [stalled, other] = [processOf(), processOf()];
  await stalled.take(HOST);
  clock.advance(LEASE_MS);
  expect(stalled.isHeld(HOST)).toBe(false);
  expect(await other.take(HOST)).toBe(true);
  await stalled.renew();
  expect(stalled.isHeld(HOST)).toBe(false);
  await stalled.letGo(HOST);
  expect(await stalled.take(HOST)).toBe(false);
  expect(other.isHeld(HOST)).toBe(true);
});

test('a lease that ran out unnoticed is held again once it is renewed', async () => {
  const leases = processOf();
  await leases.take(HOST);
  clock.advance(LEASE_MS + 1);
  expect(leases.isHeld(HOST)).toBe(false);
  await leases.renew();
  expect(leases.isHeld(HOST)).toBe(true);
});
