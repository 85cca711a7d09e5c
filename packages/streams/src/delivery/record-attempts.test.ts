import { randomUUID } from 'node:crypto';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readStreamStats } from '../records/stats.ts';
import { claimDeliveries, renewLeases } from './claim-deliveries.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { recordAttempts } from './record-attempts.ts';
import { STANDARD_RETRIES } from './retry-policy.ts';
import { addMatches, addStream, numberedHash, readOutbox } from './testing/delivery-stage.ts';

let scratch: ScratchDatabase;
let streamId: string;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  await scratch.database.query('TRUNCATE streams, stream_matches, stream_deliveries, stream_attempts, webhook_health');
  streamId = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
});

const NOW = new Date('2030-01-01T00:00:00Z');

async function claim(blocks: readonly number[]): Promise<Delivery[]> {
  await addMatches(scratch.database, streamId, { blocks });
  const until = new Date(NOW.getTime() + 20_000);
  return claimDeliveries(scratch.database, { streamIds: [streamId], limit: 100, now: NOW, until });
}

function attempt(delivery: Delivery | undefined, success: boolean, body = '{"retries":0}'): Attempt {
  if (delivery === undefined) throw new Error('Nothing was claimed');
  const outcome = success
    ? { success, httpStatus: 200, errorMessage: null, durationMs: 5 }
    : { success, httpStatus: 500, errorMessage: 'Request failed with status code 500', durationMs: 5 };
  return { id: randomUUID(), delivery, body, outcome, finishedAt: NOW };
}

const record = (...attempts: Attempt[]) => recordAttempts(scratch.database, attempts, STANDARD_RETRIES);
const outbox = () => readOutbox(scratch.database, streamId);
const stats = () => readStreamStats(scratch.database, streamId);

describe('recording attempts', () => {
  test('twice does nothing more, as when it is in doubt whether a batch was committed', async () => {
    const [first, second] = await claim([1, 2]);
    const batch = [attempt(first, true), attempt(second, false)];
    await record(...batch);
    const before = [await outbox(), await stats()];
    const again = await record(...batch);
    expect(again.verdicts.size).toBe(0);
    expect([await outbox(), await stats()]).toEqual(before);
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, webhooksFailed: 1, logsProcessed: 1, txsProcessed: 1 });
  });

  test('counts a webhook once, however often it arrives', async () => {
    const [delivery] = await claim([1]);
    const { verdicts } = await record(attempt(delivery, true), attempt(delivery, true));
    expect([...verdicts.values()]).toEqual(['delivered', 'repeated']);
    await record(attempt(delivery, true));
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, txsInternalProcessed: 1 });
    const [row] = await scratch.database.query('SELECT count(*) AS attempts FROM stream_attempts WHERE success');
    expect(row).toEqual({ attempts: 3 });
  });

  test('a late failure neither undoes an arrival nor counts as another retry, but is told', async () => {
    const [arrived, failed] = await claim([1, 2]);
    await record(attempt(arrived, true), attempt(failed, false));
    const { verdicts } = await record(attempt(arrived, false), attempt(failed, false));
    expect([...verdicts.values()]).toEqual(['repeated', 'repeated']);
    expect(await outbox()).toMatchObject([
      { status: 'delivered', retries: 0 },
      { status: 'pending', retries: 1, dueAt: new Date(NOW.getTime() + 60_000) },
    ]);
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, webhooksFailed: 3 });
  });

  test('a webhook whose block left the chain while it was sent counts when it arrived, and is not sent again', async () => {
    const [arrived, failed] = await claim([1, 2]);
    await scratch.database.query(`UPDATE stream_deliveries SET status = 'dropped'`);
    await record(attempt(arrived, true), attempt(failed, false));
    expect(await outbox()).toMatchObject([{ status: 'delivered' }, { status: 'dropped', retries: 0 }]);
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, webhooksFailed: 1 });
  });

  test('keeps bodies of failures only, and every transaction to be found by', async () => {
    const [delivery, other] = await claim([1, 2]);
    const [a, b] = [numberedHash(0xa), numberedHash(0xb)];
    const body = JSON.stringify({
      tag: `"hash":"${numberedHash(0xc)}"`,
      block: { hash: delivery?.blockHash },
      logs: [{ transactionHash: a }, { transactionHash: a }],
      txs: [{ hash: b }],
    });
    const failure = attempt(delivery, false, body);
    await record(failure, attempt(other, true));
    const rows = await scratch.database.query('SELECT success, body FROM stream_attempts ORDER BY success');
    expect(rows).toEqual([
      { success: false, body },
      { success: true, body: null },
    ]);
    const found = await scratch.database.query<{ hash: string }>(
      `SELECT '0x' || encode(transaction_hash, 'hex') AS hash FROM stream_attempt_transactions WHERE attempt_id = $1 ORDER BY 1`,
      [failure.id],
    );
    expect(found.map(({ hash }) => hash)).toEqual([a, b]);
  });

  test('moves the success rate of the URL in the order of the attempts, between 0 and 100', async () => {
    const [delivery] = await claim([1]);
    const rate = async () =>
      (await scratch.database.query<{ success_rate: number }>('SELECT success_rate FROM webhook_health'))[0]
        ?.success_rate;
    await record(attempt(delivery, true));
    expect(await rate()).toBeUndefined();
    await record(attempt(delivery, false), attempt(delivery, true), attempt(delivery, true), attempt(delivery, false));
    expect(await rate()).toBe(99);
    await record(attempt(delivery, true));
    await record(attempt(delivery, true));
    expect(await rate()).toBe(100);
    const failures = Array.from({ length: 31 }, () => attempt(delivery, false));
    expect((await record(...failures.slice(0, 30))).unhealthy).toEqual([]);
    expect((await record(...failures.slice(30))).unhealthy).toEqual([
      {
        webhookUrl: 'http://receiver.example/',
        successRate: 69,
        errorMessage: 'Request failed with status code 500',
      },
    ]);
    await record(...Array.from({ length: 80 }, () => attempt(delivery, false)));
    expect(await rate()).toBe(0);
  });
});

describe('claiming', () => {
  test('gives each webhook to one taker, longest due first, and again when its lease is over', async () => {
    const blocks = Array.from({ length: 30 }, (_, index) => index);
    await addMatches(scratch.database, streamId, { blocks });
    await scratch.database.query(
      `UPDATE stream_deliveries SET due_at = $1::timestamptz - make_interval(secs => 30 - block_number)`,
      [NOW],
    );
    const take = (limit: number, now = NOW) =>
      claimDeliveries(scratch.database, {
        streamIds: [streamId],
        limit,
        now,
        until: new Date(now.getTime() + 20_000),
      });
    const first = await take(5);
    expect(first.map(({ blockNumber }) => blockNumber).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    const rest = await Promise.all(Array.from({ length: 8 }, () => take(5)));
    const all = [...first, ...rest.flat()].map(({ id }) => id);
    expect(new Set(all).size).toBe(all.length);
    await take(100);
    expect(await take(100)).toEqual([]);
    expect(await take(100, new Date(NOW.getTime() + 20_000))).toHaveLength(30);
  });

  test('is prolonged without waiting for what is being recorded at that moment', async () => {
    const [recording, sending] = await claim([1, 2]);
    if (recording === undefined || sending === undefined) throw new Error('Nothing was claimed');
    const until = new Date(NOW.getTime() + 40_000);
    const renewed = await scratch.database.transaction(async (transaction) => {
      await transaction.query('SELECT FROM stream_deliveries WHERE id = $1 FOR UPDATE', [recording.id]);
      return renewLeases(scratch.database, [recording.id, sending.id], until);
    });
    expect(renewed).toEqual([sending.id]);
  });

  test('takes all that is due of a host, however unevenly its streams have it', async () => {
    const other = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
    await addMatches(scratch.database, streamId, { blocks: [1] });
    await addMatches(scratch.database, other, { blocks: Array.from({ length: 40 }, (_, index) => index) });
    const claimed = await claimDeliveries(scratch.database, {
      streamIds: [streamId, other],
      limit: 30,
      now: NOW,
      until: new Date(NOW.getTime() + 20_000),
    });
    expect(claimed).toHaveLength(30);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(30);
    expect(claimed.filter((delivery) => delivery.streamId === streamId)).toHaveLength(1);
  });
});
