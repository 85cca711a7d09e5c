import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signBody } from '../payload/signature.ts';
import { changeStreamSettings } from '../records/settings.ts';
import { readStreamStats } from '../records/stats.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { createReplayAttempt } from './replay.ts';
import { addMatches, addStream, passTime, readOutbox, startStagedWorker } from './testing/delivery-stage.ts';

const scratch = scratchOfFile();

async function stage() {
  const receiver = await startWebhookReceiver({ answer: () => ({ status: 500 }) });
  const worker = await startStagedWorker(scratch.database, { retryDelaysMs: [3_600_000] });
  onTestFinished(async () => {
    await receiver.close();
    await worker.stop();
  });
  const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
  const [delivery] = await addMatches(scratch.database, streamId, { blocks: [1] });
  const failures = () =>
    scratch.database.query<{ id: string }>(
      sql`SELECT id FROM stream_attempts WHERE stream_id = ${streamId} AND NOT success ORDER BY retries, created_at`,
    );
  const replay = async (index: number) =>
    createReplayAttempt({ database: scratch.database })({
      streamId,
      attemptId: (await failures())[index]?.id ?? '',
      by: exampleActor(),
    });
  const state = async () => (await readOutbox(scratch.database, streamId))[0];
  return { receiver, streamId, delivery, failures, replay, state };
}

describe('a replay', () => {
  // Invariant: STREAM-STABLE-ID
  test('sends what failed once more as it was, under the same id, signed anew; an arrival counts once', async () => {
    const { receiver, streamId, delivery, replay, state } = await stage();
    await expect.poll(async () => (await state())?.retries).toBe(1);
    await passTime(scratch.database, 3_600_001);
    await expect.poll(async () => (await state())?.status).toBe('failed');
    const { secretKey } = await changeStreamSettings(
      scratch.database,
      { secretKey: 'another secret' },
      exampleActor(),
    );
    receiver.answerWith(() => ({}));
    // The body of the first attempt, although a later one failed too.
    await scratch.database.query(sql`DELETE FROM audit_log`);
    expect(await replay(0)).toBe(true);
    await expect.poll(async () => (await state())?.status).toBe('delivered');
    const [first, second, third] = receiver.received;
    expect(await listAudit(scratch.database, null, 5)).toMatchObject([
      {
        door: 'api',
        id: 'open',
        action: 'stream.replay',
        target: streamId,
        details: { webhooks: 1, all: false },
      },
    ]);
    expect(third?.body).toBe(first?.body);
    expect(third?.body).not.toBe(second?.body);
    expect(third?.headers).toMatchObject({
      'webhook-id': delivery?.id,
      'x-signature': signBody(first?.body ?? '', secretKey),
    });
    expect(await replay(1)).toBe(true);
    await receiver.arrived(4);
    await expect.poll(async () => (await state())?.status).toBe('delivered');
    expect(receiver.received[3]?.body).toBe(second?.body);
    expect(await readStreamStats(scratch.database, streamId)).toMatchObject({
      webhooksDelivered: 1,
      webhooksFailed: 2,
      logsProcessed: 1,
    });
  });

  test('goes ahead of the next attempt, and counts as one when it fails too', async () => {
    const { receiver, replay, state } = await stage();
    await expect.poll(async () => (await state())?.retries).toBe(1);
    expect(await replay(0)).toBe(true);
    await receiver.arrived(2);
    await expect.poll(async () => (await state())?.status).toBe('failed');
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  });

  test('that is asked for while an attempt is under way follows it', async () => {
    const { receiver, replay, state, failures } = await stage();
    await expect.poll(async () => (await state())?.retries).toBe(1);
    receiver.answerWith((_, count) => (count === 2 ? { status: 500, delayMs: 400 } : {}));
    await passTime(scratch.database, 3_600_001);
    await receiver.arrived(2);
    expect(await replay(0)).toBe(true);
    await expect.poll(async () => (await state())?.status).toBe('delivered');
    expect(receiver.openMax).toBe(1);
    expect(receiver.received.map(({ body }) => JSON.parse(body).retries)).toEqual([0, 1, 0]);
    expect(await failures()).toHaveLength(2);
  });

  test('is refused for what is not known, succeeded, belongs to another stream or is kept no more', async () => {
    const { streamId, failures, state } = await stage();
    await expect.poll(async () => (await state())?.retries).toBe(1);
    const ask = createReplayAttempt({ database: scratch.database });
    const replay = (attempt: { readonly streamId: string; readonly attemptId: string }) =>
      ask({ ...attempt, by: exampleActor() });
    const [failure] = await failures();
    const attemptId = failure?.id ?? '';
    expect(await replay({ streamId, attemptId: streamId })).toBe(false);
    expect(await replay({ streamId: attemptId, attemptId })).toBe(false);
    await scratch.database.query(sql`UPDATE stream_attempts SET body = NULL WHERE id = ${attemptId}`);
    expect(await replay({ streamId, attemptId })).toBe(false);
  });

  test('is refused while one key has as many waiting as it may, also when many ask at once; others may, and an arrival makes room', async () => {
    const database = scratch.database;
    const streamId = await addStream(database, { webhookUrl: 'http://127.0.0.1:9' });
    const blocks = Array.from({ length: 12 }, (_, index) => index + 1);
    for (const { id } of await addMatches(database, streamId, { blocks }))
      await database.query(
        sql`INSERT INTO stream_attempts (id, delivery_id, stream_id, chain_id, block_number, confirmed, webhook_url, tag, retries, success, body, records, duration_ms)
         SELECT id, id, stream_id, chain_id, block_number, false, '', '', 0, false, '{}', 0, 0 FROM stream_deliveries WHERE id = ${id}`,
      );
    await database.query(sql`UPDATE stream_deliveries SET status = 'failed' WHERE stream_id = ${streamId}`);
    const attempts = await database.query<{ id: string }>(
      sql`SELECT id FROM stream_attempts WHERE stream_id = ${streamId}`,
    );
    const replay = createReplayAttempt({ database, replaysPerKey: 5 });
    const ask = (attempt: number, key: string) =>
      replay({ streamId, attemptId: attempts[attempt]?.id ?? '', by: exampleActor(key) });
    const outcomes = await Promise.allSettled(attempts.slice(0, 11).map((_, index) => ask(index, 'greedy')));
    const requested = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(requested).toHaveLength(5);
    await expect(ask(11, 'greedy')).rejects.toMatchObject({
      code: 'REPLAYS_LIMITED',
      status: 429,
      details: { waiting: 5, limit: 5 },
    });
    expect(await ask(11, 'modest')).toBe(true);
    const [refused = 0] = blocks.map((_, index) => index).filter((index) => !requested.includes(index));
    await database.query(
      sql`UPDATE stream_deliveries SET status = 'delivered' WHERE id = ${attempts[requested[0] ?? 0]?.id ?? null}`,
    );
    expect(await ask(refused, 'greedy')).toBe(true);
    await expect(ask(11, 'greedy')).rejects.toMatchObject({ code: 'REPLAYS_LIMITED' });
  });
});
