import { randomUUID } from 'node:crypto';
import { sql } from '@chainstead/db';
import { type AuditActor, listAudit } from '@chainstead/http';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createReplayMany } from './replay.ts';
import { addMatches, addStream, readOutbox, startStagedWorker } from './testing/delivery-stage.ts';

const scratch = scratchOfFile();

const actor = (id: string): AuditActor => ({ door: 'console', id, name: null, address: null, requestId: null });

/** A stream with one permanently failed webhook per block, each after one attempt. */
async function stage(blocks: number, retries = 0) {
  const receiver = await startWebhookReceiver({ answer: () => ({ status: 500 }) });
  const worker = await startStagedWorker(scratch.database, {
    retryDelaysMs: Array.from({ length: retries }, () => 1),
  });
  onTestFinished(async () => {
    await receiver.close();
    await worker.stop();
  });
  const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
  await addMatches(scratch.database, streamId, {
    blocks: Array.from({ length: blocks }, (_, index) => index + 1),
  });
  const statuses = async () => (await readOutbox(scratch.database, streamId)).map(({ status }) => status);
  await expect.poll(statuses).toEqual(Array(blocks).fill('failed'));
  const attempts = () =>
    scratch.database.query<{ id: string; body: string; blockNumber: number }>(
      sql`SELECT id, body, block_number FROM stream_attempts WHERE stream_id = ${streamId} ORDER BY block_number, created_at`,
    );
  await scratch.database.query(sql`UPDATE streams SET status = 'active' WHERE id = ${streamId}`);
  return { receiver, streamId, statuses, attempts };
}

describe('replaying many webhooks', () => {
  test('sends a selection once more, each webhook once and as it was, and writes down who asked', async () => {
    const { receiver, streamId, statuses, attempts } = await stage(3, 1);
    const made = await attempts();
    expect(made.map(({ blockNumber }) => blockNumber)).toEqual([1, 1, 2, 2, 3, 3]);
    receiver.answerWith(() => ({}));
    const before = receiver.received.length;
    const attemptIds = [...made.slice(0, 3).map(({ id }) => id), randomUUID()];
    const replay = createReplayMany({ database: scratch.database });
    expect(await replay({ streamId, attemptIds, by: actor('ann') })).toEqual({ webhooks: 2, isPart: false });
    await expect.poll(statuses).toEqual(['delivered', 'delivered', 'failed']);
    // The later of the first block's two attempts.
    const again = receiver.received.slice(before).map(({ body }) => body);
    expect(again.toSorted()).toEqual([made[1]?.body, made[2]?.body].toSorted());
    const [entry] = await listAudit(scratch.database, null, 1);
    expect(entry).toMatchObject({
      action: 'stream.replay',
      target: streamId,
      id: 'ann',
      details: { webhooks: 2, all: false },
    });
  });

  test('sends all that failed for good, and leaves what is not of the stream, arrived, or is kept no more', async () => {
    const { receiver, streamId, statuses, attempts } = await stage(4);
    const other = await stage(1);
    const [, forgotten] = await attempts();
    await scratch.database.query(sql`UPDATE stream_attempts SET body = NULL WHERE id = ${forgotten?.id ?? null}`);
    await scratch.database.query(
      sql`UPDATE stream_deliveries SET status = 'delivered' WHERE stream_id = ${streamId} AND block_number = 4`,
    );
    receiver.answerWith(() => ({}));
    const replay = createReplayMany({ database: scratch.database });
    expect(await replay({ streamId, attemptIds: null, by: actor('ann') })).toEqual({
      webhooks: 2,
      isPart: false,
    });
    await expect.poll(statuses).toEqual(['delivered', 'failed', 'delivered', 'delivered']);
    expect(await other.statuses()).toEqual(['failed']);
    const audited = await listAudit(scratch.database, null, 100);
    expect(await replay({ streamId: randomUUID(), attemptIds: null, by: actor('ann') })).toEqual({
      webhooks: 0,
      isPart: false,
    });
    expect(await listAudit(scratch.database, null, 100)).toEqual(audited);
  });

  test('takes as many as one key may have waiting, and says that there are more', async () => {
    const { streamId, statuses } = await stage(5);
    await scratch.database.query(sql`UPDATE streams SET status = 'paused' WHERE id = ${streamId}`);
    const replay = createReplayMany({ database: scratch.database, replaysPerKey: 3 });
    const ask = (id: string) => replay({ streamId, attemptIds: null, by: actor(id) });
    expect(await ask('greedy')).toEqual({ webhooks: 3, isPart: true });
    await expect(ask('greedy')).rejects.toMatchObject({ code: 'REPLAYS_LIMITED', status: 429 });
    expect(await ask('modest')).toEqual({ webhooks: 2, isPart: false });
    expect(await statuses()).toEqual(Array(5).fill('pending'));
  });
});
