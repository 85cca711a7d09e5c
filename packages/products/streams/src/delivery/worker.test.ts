import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { startWebhookReceiver, type WebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, describe, expect, test } from 'vitest';
import type { EnrichMatch } from '../enrichment/enrich-match.ts';
import { createWebhookBodies } from '../enrichment/webhook-bodies.ts';
import { signBody } from '../payload/signature.ts';
import { enrichedMatch } from '../payload/testing/enriched-match.ts';
import { receiveWebhook } from '../payload/testing/received-webhook.ts';
import { changeStreamSettings, readStreamSettings } from '../records/settings.ts';
import { readStreamStats } from '../records/stats.ts';
import { exampleActor } from '../records/testing/example-actor.ts';
import { DELIVERIES_CHANNEL } from './outbox.ts';
import {
  addMatches,
  addStream,
  passTime,
  readOutbox,
  STAGE_CHAIN,
  type StagedWorker,
  startStagedWorker,
} from './testing/delivery-stage.ts';
import type { WorkerProcessOptions } from './testing/worker-process.ts';

const MINUTE_MS = 60_000;

const scratch = scratchOfFile();

describe('webhooks', () => {
  const workers: StagedWorker[] = [];
  const receivers: WebhookReceiver[] = [];

  afterEach(async () => {
    // Requests that a test leaves hanging must not delay its end.
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await scratch.database.query(sql`TRUNCATE stream_deliveries, stream_settings`);
  });

  async function work(changes: Parameters<typeof startStagedWorker>[1] = {}): Promise<StagedWorker> {
    const worker = await startStagedWorker(scratch.database, changes);
    workers.push(worker);
    return worker;
  }
  async function receive(answer?: Parameters<WebhookReceiver['answerWith']>[0]): Promise<WebhookReceiver> {
    const receiver = await startWebhookReceiver(answer === undefined ? {} : { answer });
    receivers.push(receiver);
    return receiver;
  }
  const statuses = async (streamId: string): Promise<string[]> =>
    (await readOutbox(scratch.database, streamId)).map(({ status }) => status);
  const settled = (streamId: string, expected: readonly string[]) =>
    expect.poll(() => statuses(streamId), { timeout: 20_000, interval: 25 }).toEqual(expected);

  // Invariant: STREAM-SIGNED-TEXT
  test('arrive as the text that is stored and signed, with every header, and the SDK takes them', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: `${receiver.url}/hook?a=b`, tag: 'grüße' });
    const deliveries = await addMatches(scratch.database, streamId, {
      blocks: [100],
      kinds: ['unconfirmed', 'confirmed', 'removed'],
    });
    await work();
    await settled(streamId, ['delivered', 'delivered', 'delivered']);
    const { secretKey, region } = await readStreamSettings(scratch.database);
    const outbox = new Map((await readOutbox(scratch.database, streamId)).map((row) => [row.id, row]));
    for (const { id, kind } of deliveries) {
      const webhook = receiver.received.find(({ headers }) => headers['webhook-id'] === id);
      if (webhook === undefined) throw new Error(`The ${kind} webhook did not arrive`);
      const { headers, body, path } = webhook;
      expect(path).toBe('/hook?a=b');
      expect(outbox.get(id)?.body).toBe(body);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-signature': signBody(body, secretKey),
        'x-queue-size': expect.stringMatching(/^\d+$/),
        'x-region': region,
        'x-records-charged': kind === 'confirmed' ? '3' : '0',
      });
      const signed = `${id}.${headers['webhook-timestamp']}.${body}`;
      const mac = createHmac('sha256', secretKey).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${mac}`);
      const parsed = await receiveWebhook(body);
      expect(parsed).toMatchObject({
        confirmed: kind === 'confirmed',
        retries: 0,
        streamId,
        tag: 'grüße',
        block: { number: '100', timestamp: '1700000100' },
      });
      expect('removed' in parsed).toBe(kind === 'removed');
      expect(
        [parsed.logs, parsed.txs, parsed.txsInternal, parsed.erc20Transfers].map(({ length }) => length),
      ).toEqual([1, 1, 1, 1]);
    }
    expect(receiver.received).toHaveLength(3);
    expect(await readStreamStats(scratch.database, streamId)).toMatchObject({
      webhooksDelivered: 3,
      webhooksFailed: 0,
      logsProcessed: 3,
      txsProcessed: 3,
      txsInternalProcessed: 3,
    });
  });

  test('carry signatures of both secrets while one takes over from the other', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    const before = await readStreamSettings(scratch.database);
    const { secretKey } = await changeStreamSettings(
      scratch.database,
      { secretKey: 'the second secret' },
      exampleActor(),
    );
    await addMatches(scratch.database, streamId, { blocks: [1] });
    await work();
    await settled(streamId, ['delivered']);
    const [webhook] = receiver.received;
    if (webhook === undefined) throw new Error('Nothing arrived');
    const { headers, body } = webhook;
    expect(headers['x-signature']).toBe(signBody(body, secretKey));
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const macs = [secretKey, before.secretKey].map((secret) =>
      createHmac('sha256', secret).update(signed).digest('base64'),
    );
    expect(headers['webhook-signature']).toBe(macs.map((mac) => `v1,${mac}`).join(' '));
  });

  test('are sent again at the times of the schedule with growing retries, then fail for good; each attempt is logged', async () => {
    const receiver = await receive(() => ({ status: 500 }));
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    const [delivery] = await addMatches(scratch.database, streamId, { blocks: [7] });
    await work();
    for (const [failures, minutes] of [1, 10, 60, 120, 360, 720, 1_440].entries()) {
      await expect
        .poll(async () => (await readOutbox(scratch.database, streamId))[0]?.retries, {
          timeout: 10_000,
          interval: 20,
        })
        .toBe(failures + 1);
      const [row] = await readOutbox(scratch.database, streamId);
      const waitMs = (row?.dueAt.getTime() ?? 0) - Date.now();
      expect(waitMs).toBeLessThanOrEqual(minutes * MINUTE_MS);
      expect(waitMs).toBeGreaterThan(minutes * MINUTE_MS - 10_000);
      expect(receiver.received).toHaveLength(failures + 1);
      await passTime(scratch.database, waitMs);
    }
    await settled(streamId, ['failed']);
    expect(receiver.received.map(({ body }) => JSON.parse(body).retries)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery?.id]),
    );
    const attempts = await scratch.database.query(
      sql`SELECT retries, success, http_status, error_message, body FROM stream_attempts WHERE stream_id = ${streamId} ORDER BY retries`,
    );
    expect(attempts).toEqual(
      receiver.received.map(({ body }, retries) => ({
        retries,
        success: false,
        httpStatus: 500,
        errorMessage: 'Request failed with status code 500',
        body,
      })),
    );
    const stats = await readStreamStats(scratch.database, streamId);
    expect(stats).toMatchObject({ webhooksDelivered: 0, webhooksFailed: 8, logsProcessed: 0 });
  });

  test('wait as long as a receiver that is busy requests', async () => {
    const receiver = await receive(() => ({ status: 503, headers: { 'retry-after': '1800' } }));
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await addMatches(scratch.database, streamId, { blocks: [7] });
    await work();
    await expect
      .poll(() => readOutbox(scratch.database, streamId))
      .toMatchObject([{ retries: 1, status: 'pending' }]);
    const [row] = await readOutbox(scratch.database, streamId);
    const waitMs = (row?.dueAt.getTime() ?? 0) - Date.now();
    expect(waitMs).toBeLessThanOrEqual(30 * MINUTE_MS);
    expect(waitMs).toBeGreaterThan(30 * MINUTE_MS - 10_000);
  });

  test.each([
    ['behind', -600_000],
    ['ahead', 600_000],
  ])(
    'go at once, and are told and tried again by the database’s clock, when the machine’s is 10 minutes %s',
    async (_, offsetMs) => {
      const receiver = await receive((_webhook, count) => (count === 1 ? { status: 500 } : {}));
      const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
      await addMatches(scratch.database, streamId, { blocks: [1] });
      const clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
      await work({ clock });
      await expect.poll(() => readOutbox(scratch.database, streamId)).toMatchObject([{ retries: 1 }]);
      const [row] = await scratch.database.query<{ waits: number; age: number }>(
        sql`SELECT extract(epoch FROM d.due_at - a.created_at)::float8 AS waits, extract(epoch FROM now() - a.created_at)::float8 AS age
       FROM stream_deliveries d JOIN stream_attempts a ON a.delivery_id = d.id WHERE d.stream_id = ${streamId}`,
      );
      expect(Math.abs((row?.waits ?? 0) - 60)).toBeLessThan(20);
      expect(Math.abs(row?.age ?? Number.NaN)).toBeLessThan(20);
      const reported = Number(receiver.received[0]?.headers['webhook-timestamp']);
      expect(Math.abs(reported - Date.now() / 1_000)).toBeLessThan(20);
      await passTime(scratch.database, 60_000);
      await settled(streamId, ['delivered']);
    },
  );

  test('are delivered by any 2xx; a redirect is a failure and is not followed', async () => {
    const elsewhere = await receive();
    const redirecting = await receive(() => ({ status: 307, headers: { location: elsewhere.url } }));
    const terse = await receive(() => ({ status: 204 }));
    const [moved, done] = await Promise.all(
      [redirecting, terse].map(({ url }) => addStream(scratch.database, { webhookUrl: url })),
    );
    if (moved === undefined || done === undefined) throw new Error('No streams');
    await addMatches(scratch.database, moved, { blocks: [1] });
    await addMatches(scratch.database, done, { blocks: [1] });
    await work();
    await settled(done, ['delivered']);
    await expect
      .poll(() => readOutbox(scratch.database, moved))
      .toMatchObject([{ retries: 1, status: 'pending' }]);
    expect(elsewhere.received).toHaveLength(0);
    expect(
      await scratch.database.query(sql`SELECT error_message FROM stream_attempts WHERE stream_id = ${moved}`),
    ).toEqual([{ errorMessage: 'Request failed with status code 307' }]);
  });

  test('of other hosts are not held up by one that hangs, nor does that one get more at once than it may', async () => {
    const hanging = await receive(() => ({ status: 'hang' }));
    const slow = await addStream(scratch.database, { webhookUrl: hanging.url });
    await addMatches(scratch.database, slow, { blocks: Array.from({ length: 50 }, (_, index) => index) });
    await work({ concurrency: 12, concurrencyPerHost: 4 });
    await hanging.arrived(4);
    const others = await Promise.all(Array.from({ length: 5 }, () => receive()));
    const streams = await Promise.all(others.map(({ url }) => addStream(scratch.database, { webhookUrl: url })));
    const blocks = Array.from({ length: 40 }, (_, index) => index);
    for (const stream of streams) await addMatches(scratch.database, stream, { blocks });
    for (const stream of streams)
      await settled(
        stream,
        blocks.map(() => 'delivered'),
      );
    expect(hanging.received).toHaveLength(4);
    expect(hanging.openMax).toBe(4);
    expect(new Set(await statuses(slow))).toEqual(new Set(['pending']));
  });

  test('go over connections that are kept', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    const blocks = Array.from({ length: 60 }, (_, index) => index);
    await addMatches(scratch.database, streamId, { blocks });
    await work({ concurrencyPerHost: 3 });
    await receiver.arrived(60);
    expect(new Set(receiver.received.map(({ connection }) => connection)).size).toBeLessThanOrEqual(3);
  });

  test('of several workers arrive once each', async () => {
    const receiver = await receive();
    const streams = await Promise.all(
      ['a', 'b', 'c'].map((path) => addStream(scratch.database, { webhookUrl: `${receiver.url}/${path}` })),
    );
    const blocks = Array.from({ length: 100 }, (_, index) => index);
    for (const stream of streams) await addMatches(scratch.database, stream, { blocks });
    await Promise.all([work(), work(), work()]);
    for (const stream of streams)
      await settled(
        stream,
        blocks.map(() => 'delivered'),
      );
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(300);
    expect(receiver.received).toHaveLength(300);
  });

  test('of a stream that is paused wait, and go when it is active again', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    const other = await addStream(scratch.database, { webhookUrl: `${receiver.url}/other` });
    await scratch.database.query(sql`UPDATE streams SET status = 'paused' WHERE id = ${streamId}`);
    await addMatches(scratch.database, streamId, { blocks: [1, 2] });
    await addMatches(scratch.database, other, { blocks: [1] });
    await work();
    await settled(other, ['delivered']);
    expect(await statuses(streamId)).toEqual(['pending', 'pending']);
    await scratch.database.query(sql`UPDATE streams SET status = 'active' WHERE id = ${streamId}`);
    await settled(streamId, ['delivered', 'delivered']);
  });

  // Invariant: STREAM-REMOVED
  test('of blocks that left the chain are dropped, what says so is sent', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await addMatches(scratch.database, streamId, { blocks: [1], kinds: ['unconfirmed', 'removed'] });
    await addMatches(scratch.database, streamId, { blocks: [2] });
    await scratch.database.query(
      sql`UPDATE stream_matches SET removed_at = now() WHERE stream_id = ${streamId} AND block_number = 1`,
    );
    await work();
    await settled(streamId, ['delivered', 'dropped', 'delivered']);
    expect(receiver.received.map(({ body }) => JSON.parse(body).removed ?? false).toSorted()).toEqual([
      false,
      true,
    ]);
  });

  // Invariant: STREAM-STABLE-ID
  test('that a process had in hand when it was killed go from another, under the same id', async () => {
    const receiver = await receive((_, count) => (count <= 3 ? { status: 'hang' } : {}));
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    const deliveries = await addMatches(scratch.database, streamId, { blocks: [1, 2, 3] });
    const options: WorkerProcessOptions = { databaseUrl: scratch.url };
    const program = fileURLToPath(new URL('./testing/worker-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: 'inherit' });
    try {
      await receiver.arrived(3);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await work();
    await settled(streamId, ['delivered', 'delivered', 'delivered']);
    const ids = deliveries.map(({ id }) => id).toSorted();
    const received = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(received.slice(0, 3).toSorted()).toEqual(ids);
    expect(received.slice(3).toSorted()).toEqual(ids);
    expect(await readStreamStats(scratch.database, streamId)).toMatchObject({
      webhooksDelivered: 3,
      webhooksFailed: 0,
    });
  });

  test('that are under way when a worker stops are given back at once, as if never tried', async () => {
    const receiver = await receive((_, count) => (count <= 2 ? { status: 'hang' } : {}));
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await addMatches(scratch.database, streamId, { blocks: [1, 2] });
    const first = await startStagedWorker(scratch.database, { closeMs: 50, leaseMs: 600_000 });
    await receiver.arrived(2);
    await first.stop();
    expect(await readOutbox(scratch.database, streamId)).toMatchObject([
      { status: 'pending', retries: 0 },
      { status: 'pending', retries: 0 },
    ]);
    await work();
    await settled(streamId, ['delivered', 'delivered']);
  });

  test('wait while what they tell can not be read, which is no failed attempt', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await addMatches(scratch.database, streamId, { blocks: [1] });
    let requested = 0;
    const make = async (): Promise<string> => {
      requested += 1;
      if (requested < 3) throw new Error('No node answers');
      return '{"streamId":"told at last"}';
    };
    const worker = await work({ bodies: { make } });
    await settled(streamId, ['delivered']);
    expect(receiver.received.map(({ body }) => body)).toEqual([
      '{"confirmed":false,"retries":0,"streamId":"told at last"}',
    ]);
    expect(await readStreamStats(scratch.database, streamId)).toMatchObject({
      webhooksDelivered: 1,
      webhooksFailed: 0,
    });
    expect(await worker.metrics.metrics()).toContain('chainstead_webhooks_total{result="postponed"} 2');
  });

  test('whose block leaves the chain while what they tell is being read are not sent', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await addMatches(scratch.database, streamId, { blocks: [1, 2] });
    const enrich: EnrichMatch = async ({ match }) => {
      await scratch.database.query(
        sql`UPDATE stream_deliveries SET status = 'dropped' WHERE stream_id = ${streamId} AND block_number = 1`,
      );
      return enrichedMatch(match, STAGE_CHAIN);
    };
    const chains = [{ chain: STAGE_CHAIN, enrich }];
    await work({ bodies: createWebhookBodies({ database: scratch.database, chains, clock: systemClock }) });
    await settled(streamId, ['dropped', 'delivered']);
    expect(receiver.received.map(({ body }) => JSON.parse(body).block.number)).toEqual(['2']);
  });

  test('go at once when Postgres tells of them', async () => {
    const receiver = await receive();
    const streamId = await addStream(scratch.database, { webhookUrl: receiver.url });
    await work({ sweepEveryMs: 3_600_000 });
    await addMatches(scratch.database, streamId, { blocks: [1] });
    await scratch.database.transaction(async (transaction) => transaction.notify(DELIVERIES_CHANNEL));
    await settled(streamId, ['delivered']);
  });
});
