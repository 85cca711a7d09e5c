import { silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStreamSettings } from '../records/settings.ts';
import { createHostLanes } from './host-lanes.ts';
import { createLeases } from './leases.ts';
import { addMatches, addStream, movedClock, readOutbox } from './testing/delivery-stage.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

/** A database whose settings can be read so many times. */
function settingsFailAfter(reads: number): Database {
  let left = reads;
  return {
    ...scratch.database,
    query: (text, values) => {
      if (/FROM stream_settings/.test(text) && left-- <= 0) return Promise.reject(new Error('settings are away'));
      return scratch.database.query(text, values);
    },
  };
}

test('what was claimed is given back when the settings beside it can not be read', async () => {
  const streamId = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
  const [delivery] = await addMatches(scratch.database, streamId, { blocks: [1] });
  if (delivery === undefined) throw new Error('Nothing is to be sent');
  const clock = movedClock();
  // The test's clock, so that what was put into the outbox just now is due.
  clock.advance(60_000);
  const leases = createLeases({ database: scratch.database, clock, logger: silentLogger(), leaseMs: 20_000 });
  const held: string[] = [];
  const sent: string[] = [];
  // The first read makes them.
  await readStreamSettings(scratch.database);
  const lanes = createHostLanes({
    // Read for the lane, and not beside the first claim.
    database: settingsFailAfter(1),
    leases: {
      ...leases,
      hold(id, until) {
        held.push(id);
        leases.hold(id, until);
      },
    },
    deliver: async ({ id }) => void sent.push(id),
    clock,
    concurrency: 10,
    concurrencyPerHost: 10,
    streamsOf: () => [streamId],
    queueSizeOf: () => 0,
    isEnding: () => false,
  });
  await expect(lanes.run('receiver.example', new AbortController().signal)).rejects.toThrow('settings are away');
  expect(held).toEqual([delivery.id]);
  expect(sent).toEqual([]);
  expect(leases.isHeld(delivery.id)).toBe(false);
  const [row] = await readOutbox(scratch.database, streamId);
  expect(row).toMatchObject({ status: 'pending', retries: 0 });
  // Due at once, not when a lease ends.
  expect(row?.dueAt.getTime()).toBeLessThanOrEqual(clock.now());
});
