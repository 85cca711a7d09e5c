import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { changeStreamStatus } from '../records/change-status.ts';
import { holdStreamsVersion } from '../records/stream-addresses.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { StreamStatus } from '../stream.ts';
import { measureDeliveries } from './delivery-metrics.ts';
import { createStatusMachine } from './status.ts';
import { addMatches, addStream, readOutbox, startStagedWorker } from './testing/delivery-stage.ts';

const scratch = scratchOfFile();

const blocks = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const store = () => createStreamStore(scratch.database);
const becomes = (id: string, status: StreamStatus) =>
  expect.poll(async () => (await store().get(id))?.status, { timeout: 20_000, interval: 25 }).toBe(status);
const delivered = async (id: string): Promise<number> =>
  (await readOutbox(scratch.database, id)).filter(({ status }) => status === 'delivered').length;

async function resume(id: string): Promise<void> {
  await scratch.database.transaction((transaction) =>
    changeStreamStatus(transaction, id, () => ({ status: 'active', statusMessage: 'Stream is active' })),
  );
}

/** Sets the time in error to the duration minus a remainder. */
async function inErrorSince(id: string, duration: string, remainder: string): Promise<void> {
  await scratch.database.query(
    sql`UPDATE streams SET error_since = now() - ${duration}::interval + ${remainder}::interval WHERE id = ${id}`,
  );
}

async function stage(changes: Parameters<typeof startStagedWorker>[1] = {}) {
  const receiver = await startWebhookReceiver({ answer: () => ({ status: 500 }) });
  const worker = await startStagedWorker(scratch.database, changes);
  onTestFinished(async () => {
    await receiver.close();
    await worker.stop();
    await scratch.database.query(sql`TRUNCATE streams, stream_deliveries`);
  });
  return { receiver, worker };
}

test('all streams of a key get into error by one change, which blocks wait for', async () => {
  const { logger, metrics } = { logger: silentLogger(), metrics: createMetricsRegistry() };
  const { database } = scratch;
  const machine = createStatusMachine({
    database,
    logger,
    metrics: measureDeliveries({ registry: metrics, database, logger }),
  });
  const urls = Array.from({ length: 20 }, (_, number) => `http://host-${number}.example/`);
  const ids: string[] = [];
  for (const webhookUrl of urls) ids.push(await addStream(database, { webhookUrl }));
  const other = await addStream(database, { webhookUrl: 'http://healthy.example/' });
  const version = () => database.transaction(holdStreamsVersion);
  const before = await version();
  const unhealthy = urls.map((webhookUrl) => ({
    webhookUrl,
    successRate: 69,
    errorMessage: `${webhookUrl} failed`,
  }));
  await machine.failUnhealthy(unhealthy);
  expect(await version()).toBe(before + 1);
  for (const [at, id] of ids.entries())
    expect(await store().get(id)).toMatchObject({
      status: 'error',
      statusMessage: `Success rate of the webhook is 69 %, below 70 %: ${urls[at]} failed`,
    });
  expect((await store().get(other))?.status).toBe('active');
  expect(await metrics.metrics()).toContain(
    'chainstead_stream_status_changes_total{status="error",reason="success-rate"} 20',
  );
  // None is active any more.
  await machine.failUnhealthy(unhealthy);
  expect(await version()).toBe(before + 1);
  await database.query(sql`TRUNCATE streams, stream_deliveries`);
});

describe('a stream', () => {
  test('gets into error with the 31st failure of its URL, sends nothing more, and goes on from its outbox when resumed', async () => {
    const { receiver, worker } = await stage({ concurrencyPerHost: 1 });
    const id = await addStream(scratch.database, { webhookUrl: `${receiver.url}/a` });
    const sister = await addStream(scratch.database, { webhookUrl: `${receiver.url}/a` });
    const healthy = await addStream(scratch.database, { webhookUrl: `${receiver.url}/b` });
    await addMatches(scratch.database, id, { blocks: blocks(40) });
    await becomes(id, 'error');
    await becomes(sister, 'error');
    expect((await store().get(healthy))?.status).toBe('active');
    expect((await store().get(id))?.statusMessage).toBe(
      'Success rate of the webhook is 69 %, below 70 %: Request failed with status code 500',
    );
    const failed = receiver.received.length;
    expect(failed).toBeGreaterThanOrEqual(31);
    expect(failed).toBeLessThanOrEqual(32);
    expect(await worker.metrics.metrics()).toContain(
      'chainstead_stream_status_changes_total{status="error",reason="success-rate"} 2',
    );
    expect(await worker.metrics.metrics()).toContain('chainstead_streams{status="error"} 2');

    await addMatches(scratch.database, sister, { blocks: blocks(5) });
    await addMatches(scratch.database, healthy, { blocks: [1] });
    receiver.answerWith(() => ({}));
    await expect.poll(() => delivered(healthy)).toBe(1);
    expect(await delivered(sister)).toBe(0);
    await resume(sister);
    await expect.poll(() => delivered(sister)).toBe(5);
    await resume(id);
    await expect.poll(() => delivered(id)).toBe(40 - failed);
    await becomes(id, 'active');
  });

  test('gets into error when too many webhooks wait; those count no more once it is resumed', async () => {
    await stage();
    const id = await addStream(scratch.database, { webhookUrl: 'http://127.0.0.1:9/' });
    const later = sql`now() + interval '1 day'`;
    const insert = (count: number) =>
      scratch.database.query(
        sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, due_at)
         SELECT gen_random_uuid(), ${id}, 1, n, '\\x00', 'unconfirmed', ${later} FROM generate_series(1, ${count}::int) AS n`,
      );
    await insert(9_999);
    const other = await addStream(scratch.database, { webhookUrl: 'http://127.0.0.1:9/other' });
    await scratch.database.query(
      sql`UPDATE streams SET status = 'error', error_since = now() - interval '25 hours' WHERE id = ${other}`,
    );
    // Once the other stream is terminated, the check has run.
    await becomes(other, 'terminated');
    expect((await store().get(id))?.status).toBe('active');
    await insert(1);
    await becomes(id, 'error');
    expect((await store().get(id))?.statusMessage).toBe('At least 10000 webhooks wait for their delivery');
    await resume(id);
    await scratch.database.query(
      sql`UPDATE streams SET status = 'error', error_since = now() - interval '25 hours' WHERE id = ${other}`,
    );
    await becomes(other, 'terminated');
    expect((await store().get(id))?.status).toBe('active');
    expect(await readOutbox(scratch.database, id)).toHaveLength(10_000);
  });

  test('is terminated after 24 hours in error, keeps its outbox and its reason, and delivers when it is resumed', async () => {
    const { receiver, worker } = await stage();
    receiver.answerWith(() => ({}));
    const id = await addStream(scratch.database, { webhookUrl: receiver.url });
    await scratch.database.query(
      sql`UPDATE streams SET status = 'error', status_message = 'It broke', error_since = now() WHERE id = ${id}`,
    );
    await addMatches(scratch.database, id, { blocks: [1] });
    await inErrorSince(id, '24 hours', '1 minute');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await store().get(id))?.status).toBe('error');
    await inErrorSince(id, '24 hours', '-1 second');
    await becomes(id, 'terminated');
    expect((await store().get(id))?.statusMessage).toBe('Stream was in error for 24 hours. It broke');
    expect(await worker.metrics.metrics()).toContain(
      'chainstead_stream_status_changes_total{status="terminated",reason="time-in-error"} 1',
    );
    expect(receiver.received).toHaveLength(0);
    await resume(id);
    await expect.poll(() => delivered(id)).toBe(1);
  });
});
