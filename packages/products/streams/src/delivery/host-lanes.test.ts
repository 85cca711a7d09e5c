import { randomUUID } from 'node:crypto';
import { type Clock, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql, statementOf } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readStreamSettings } from '../records/settings.ts';
import { recordAttempts } from './attempts.ts';
import type { DeliverWebhook } from './deliver.ts';
import { createHostLanes, type HostLanes } from './host-lanes.ts';
import { createHostLeases, readDueStreams } from './host-queues.ts';
import { readDueDeliveries } from './outbox.ts';
import { addMatches, addStream, movedClock } from './testing/delivery-stage.ts';

const HOST = 'http://receiver.example';
const OTHER_HOST = 'http://other.example';
const KEY = 'key';

const scratch = scratchOfFile();

const signal = new AbortController().signal;

function lanesOf(
  deliver: DeliverWebhook['deliver'],
  streamIds: readonly string[],
  database: Database = scratch.database,
  clock: Clock = systemClock,
) {
  const leases = createHostLeases({ database, logger: silentLogger(), leaseMs: 20_000 });
  const lanes: HostLanes = createHostLanes({
    database,
    leases,
    webhooks: { prepare: (due) => ({ ...due, making: null }), deliver },
    clock,
    concurrency: 10,
    concurrencyPerHost: 10,
    streamsOf: () => streamIds,
    queueSizeOf: () => 0,
    isEnding: () => false,
  });
  return { lanes, leases };
}

/** Delivers like the program: a delivered item is no longer due. */
function delivering(
  sent: string[],
  first: (id: string) => Promise<void> = async () => {},
): DeliverWebhook['deliver'] {
  return async ({ delivery: { id } }, _facts, _signal, onTaken) => {
    sent.push(id);
    onTaken(10);
    await first(id);
    await scratch.database.query(sql`UPDATE stream_deliveries SET status = 'delivered' WHERE id = ${id}`);
  };
}

test('what is being recorded is not sent once more, however often the host is looked at', async () => {
  const streamId = await addStream(scratch.database, { webhookUrl: `${HOST}/` });
  const deliveries = await addMatches(scratch.database, streamId, { blocks: [1, 2, 3] });
  const sent: string[] = [];
  const recorded = Promise.withResolvers<void>();
  const { lanes } = lanesOf(
    delivering(sent, () => recorded.promise),
    [streamId],
  );
  const running = lanes.run(HOST, KEY, signal);
  await expect.poll(() => sent.length).toBe(3);
  const [late] = await addMatches(scratch.database, streamId, { blocks: [4] });
  await expect.poll(() => lanes.wake(HOST) && sent.length).toBe(4);
  for (let turn = 0; turn < 5; turn++) {
    lanes.wake(HOST);
    await readStreamSettings(scratch.database);
  }
  recorded.resolve();
  await running;
  expect(sent.toSorted()).toEqual([...deliveries, late].map((delivery) => delivery?.id).toSorted());
});

test('a host that another process sends to is left alone until that one lets it go', async () => {
  const streamId = await addStream(scratch.database, { webhookUrl: `${HOST}/` });
  const [delivery] = await addMatches(scratch.database, streamId, { blocks: [1] });
  const sent: string[] = [];
  const { lanes } = lanesOf(delivering(sent), [streamId]);
  const { leases: others } = lanesOf(delivering([]), []);
  await others.take(HOST);
  await lanes.run(HOST, KEY, signal);
  expect(sent).toEqual([]);
  await others.letGo(HOST);
  await lanes.run(HOST, KEY, signal);
  expect(sent).toEqual([delivery?.id]);
  expect(await others.take(HOST)).toBe(true);
});

test('what is due stays due when the settings can not be read, and the host is free', async () => {
  const streamId = await addStream(scratch.database, { webhookUrl: `${HOST}/other` });
  const [delivery] = await addMatches(scratch.database, streamId, { blocks: [1] });
  const away: Database = {
    ...scratch.database,
    query: (statement) =>
      statementOf(statement).text.includes('FROM stream_settings')
        ? Promise.reject(new Error('settings are away'))
        : scratch.database.query(statement),
  };
  const sent: string[] = [];
  const { lanes, leases } = lanesOf(delivering(sent), [streamId], away);
  await scratch.database.query(sql`TRUNCATE webhook_host_leases`);
  await expect(lanes.run(HOST, KEY, signal)).rejects.toThrow('settings are away');
  expect(sent).toEqual([]);
  expect(leases.isHeld(HOST)).toBe(false);
  await lanesOf(delivering(sent), [streamId]).lanes.run(HOST, KEY, signal);
  expect(sent).toEqual([delivery?.id]);
});

/** Lanes of hosts whose webhooks end when the test says so. */
async function openLanes() {
  const clock = movedClock();
  await scratch.database.query(sql`TRUNCATE streams, stream_deliveries, webhook_health`);
  const streamId = await addStream(scratch.database, { webhookUrl: `${HOST}/` });
  const due = await addMatches(scratch.database, streamId, { blocks: [1, 2, 3, 4, 5, 6] });
  await scratch.database.query(sql`TRUNCATE webhook_host_leases`);
  const open: ((outcome: { success: boolean; durationMs: number }) => void)[] = [];
  const deliver: DeliverWebhook['deliver'] = ({ delivery }, { onOutcome }, _signal, onTaken) =>
    new Promise((resolve) => {
      open.push(async (outcome) => {
        onOutcome(outcome);
        if (outcome.success) onTaken(10);
        await scratch.database.query(
          sql`UPDATE stream_deliveries SET status = 'delivered' WHERE id = ${delivery.id}`,
        );
        resolve();
      });
    });
  const { lanes } = lanesOf(deliver, [streamId], scratch.database, clock);
  const run = (host: string, key: string): Promise<void> => lanes.run(host, key, signal);
  return { clock, lanes, due, open, run, streamId };
}

test('hosts of a key share its part of the lanes, and a part is left for another key', async () => {
  const { clock, lanes, run } = await openLanes();
  const hasRoom = (host: string, key: string) => lanes.hasRoom(host, key, lanes.shareAmong([key]));
  const begun: string[] = [];
  for (let number = 0; number < 20; number++) {
    const host = `http://silent-${number}.example`;
    if (!hasRoom(host, 'a')) continue;
    void run(host, 'a');
    begun.push(host);
  }
  // Half of the five lanes.
  expect(begun).toHaveLength(2);
  expect(hasRoom('http://other.example', 'b')).toBe(true);
  clock.advance(1_000);
  // Quiet hosts take no lanes from others of their key.
  expect(hasRoom('http://silent-19.example', 'a')).toBe(true);
});

test('a host whose webhook timed out ends its turn, and gets one webhook at a time until it responds', async () => {
  const { lanes, open, run, due } = await openLanes();
  const first = run(HOST, 'a');
  await expect.poll(() => open.length).toBe(3);
  for (const end of open) end({ success: false, durationMs: 15_000 });
  await first;
  expect(open).toHaveLength(3);
  expect(isBehind(lanes, HOST)).toBe(true);
  const second = run(HOST, 'a');
  await expect.poll(() => open.length).toBe(4);
  open[3]?.({ success: true, durationMs: 20 });
  await expect.poll(() => isBehind(lanes, HOST)).toBe(false);
  for (let ended = 4; ended < due.length; ended++) {
    await expect.poll(() => open.length).toBeGreaterThan(ended);
    open[ended]?.({ success: true, durationMs: 20 });
  }
  await second;
});

test('a host that failed before a restart waits behind others until it responds', async () => {
  const { lanes, open, run, streamId } = await openLanes();
  const [dueBefore] = await readDueStreams(scratch.database);
  expect(dueBefore).toMatchObject({ streamId, isFailing: false });
  const [failed] = await readDueDeliveries(scratch.database, { streamIds: [streamId], limit: 1, without: [] });
  if (failed === undefined) throw new Error('Nothing is due');
  const outcome = { success: false, httpStatus: null, errorMessage: 'timeout', durationMs: 15_000 };
  const attempt = { ...failed, id: randomUUID(), body: null, outcome, finishedAt: new Date() };
  await recordAttempts(scratch.database, [attempt], [1_000]);
  const [dueAfter] = await readDueStreams(scratch.database);
  expect(dueAfter).toMatchObject({ streamId, isFailing: true });
  lanes.noteFailing([HOST]);
  expect(isBehind(lanes, HOST)).toBe(true);
  const running = run(HOST, 'a');
  await expect.poll(() => open.length).toBe(1);
  open[0]?.({ success: true, durationMs: 20 });
  await expect.poll(() => isBehind(lanes, HOST)).toBe(false);
  lanes.noteFailing([HOST]);
  expect(isBehind(lanes, HOST)).toBe(false);
  for (let ended = 1; ended < 5; ended++) {
    await expect.poll(() => open.length).toBeGreaterThan(ended);
    open[ended]?.({ success: true, durationMs: 20 });
  }
  await running;
});

/** Lanes whose reads of leases wait for `end`. `reads`: their hosts. */
async function openHeldReads() {
  const streamId = await addStream(scratch.database, { webhookUrl: `${HOST}/` });
  await addMatches(scratch.database, streamId, { blocks: [1] });
  await scratch.database.query(sql`TRUNCATE webhook_host_leases`);
  const reads: string[] = [];
  const held = Promise.withResolvers<void>();
  const waiting: Database = {
    ...scratch.database,
    query: async (statement) => {
      const { text, values } = statementOf(statement);
      if (text.includes('INSERT INTO webhook_host_leases')) {
        reads.push(String(values[0]));
        await held.promise;
      }
      return scratch.database.query(statement);
    },
  };
  const { lanes } = lanesOf(delivering([]), [streamId], waiting);
  return {
    reads,
    end: held.resolve,
    runMany: (): Promise<void>[] =>
      Array.from({ length: 20 }, (_, number) => lanes.run(`http://many-${number}.example`, 'many', signal)),
    runOther: (): Promise<void> => lanes.run(OTHER_HOST, 'other', signal),
  };
}

test('hosts of a key read from the database a few at a time, so those of another key go first', async () => {
  const { reads, end, runMany, runOther } = await openHeldReads();
  const running = [...runMany(), runOther()];
  await expect.poll(() => reads).toContain(OTHER_HOST);
  expect(reads.length).toBeLessThan(10);
  end();
  await Promise.all(running);
  expect(reads).toHaveLength(21);
});

test('hosts of a key read two at a time while another key has some', async () => {
  const { reads, end, runMany, runOther } = await openHeldReads();
  const running = [runOther(), ...runMany()];
  await readStreamSettings(scratch.database);
  expect(reads).toEqual([OTHER_HOST, 'http://many-0.example', 'http://many-1.example']);
  end();
  await Promise.all(running);
  expect(reads).toHaveLength(21);
});

function isBehind(lanes: HostLanes, host: string): boolean {
  return lanes.rankOf(host) > lanes.rankOf('http://unknown.example');
}
