import { randomUUID } from 'node:crypto';
import { sql } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { readDelivery } from './outbox.ts';
import { listWaitingDeliveries, type WaitingPosition } from './status.ts';
import { addMatches, addStream, passTime, startStagedWorker } from './testing/delivery-stage.ts';

const scratch = scratchOfFile();

test('a webhook is told with the text that was sent, and every attempt with its answer and time', async () => {
  const receiver = await startWebhookReceiver({ answer: (_, count) => ({ status: count === 1 ? 503 : 204 }) });
  const worker = await startStagedWorker(scratch.database, { retryDelaysMs: [3_600_000, 3_600_000, 3_600_000] });
  onTestFinished(async () => {
    await receiver.close();
    await worker.stop();
  });
  const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
  const [added] = await addMatches(scratch.database, streamId, { blocks: [7] });
  const id = added?.id ?? '';
  const read = () => readDelivery(scratch.database, streamId, id);
  await expect.poll(async () => (await read())?.retries).toBe(1);
  expect(await read()).toMatchObject({
    status: 'pending',
    kind: 'unconfirmed',
    blockNumber: 7,
    deliveredAt: null,
    body: receiver.received[0]?.body,
    attempts: [
      {
        deliveryId: id,
        success: false,
        httpStatus: 503,
        errorMessage: 'Request failed with status code 503',
        retries: 0,
      },
    ],
  });
  await passTime(scratch.database, 3_600_001);
  await expect.poll(async () => (await read())?.status).toBe('delivered');
  const delivered = await read();
  expect(delivered?.body).toBe(receiver.received[1]?.body);
  expect(delivered?.attempts).toMatchObject([{ success: true, httpStatus: 204, retries: 1 }, { success: false }]);
  expect(delivered?.attempts[0]?.durationMs).toBeGreaterThanOrEqual(0);
  expect(await readDelivery(scratch.database, randomUUID(), id)).toBeNull();
});

test('what waits is listed in the order in which it is due, each once over the pages', async () => {
  const streamId = await addStream(scratch.database, { webhookUrl: 'https://receiver.example' });
  await addMatches(scratch.database, streamId, { blocks: [1, 2, 3, 4, 5] });
  await scratch.database.query(
    sql`UPDATE stream_deliveries SET due_at = timestamptz '2030-01-01Z' + make_interval(secs => CASE WHEN block_number > 3 THEN 0 ELSE block_number END)
     WHERE stream_id = ${streamId}`,
  );
  await scratch.database.query(
    sql`UPDATE stream_deliveries SET status = 'failed' WHERE stream_id = ${streamId} AND block_number = 2`,
  );
  const seen: number[] = [];
  for (let after: WaitingPosition | null = null, pages = 0; pages < 9; pages++) {
    const page = await listWaitingDeliveries(scratch.database, { streamId, after, limit: 1 });
    seen.push(...page.deliveries.map(({ blockNumber }) => blockNumber));
    after = page.next;
    if (after === null) break;
  }
  expect(seen.slice(0, 2).toSorted()).toEqual([4, 5]);
  expect(seen.slice(2)).toEqual([1, 3]);
});
