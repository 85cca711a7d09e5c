import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql, statementOf } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readStreamSettings } from '../records/settings.ts';
import type { DeliverWebhook } from './deliver-webhook.ts';
import { createHostLanes, type HostLanes } from './host-lanes.ts';
import { createHostLeases } from './host-leases.ts';
import { addMatches, addStream } from './testing/delivery-stage.ts';

const HOST = 'http://receiver.example';

const scratch = scratchOfFile();

const signal = new AbortController().signal;

function lanesOf(
  deliver: DeliverWebhook['deliver'],
  streamIds: readonly string[],
  database: Database = scratch.database,
) {
  const leases = createHostLeases({ database, logger: silentLogger(), leaseMs: 20_000 });
  const lanes: HostLanes = createHostLanes({
    database,
    leases,
    webhooks: { prepare: (due) => ({ ...due, making: null }), deliver },
    clock: systemClock,
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
  const running = lanes.run(HOST, signal);
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
  await lanes.run(HOST, signal);
  expect(sent).toEqual([]);
  await others.letGo(HOST);
  await lanes.run(HOST, signal);
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
  await expect(lanes.run(HOST, signal)).rejects.toThrow('settings are away');
  expect(sent).toEqual([]);
  expect(leases.isHeld(HOST)).toBe(false);
  await lanesOf(delivering(sent), [streamId]).lanes.run(HOST, signal);
  expect(sent).toEqual([delivery?.id]);
});
