import { randomUUID } from 'node:crypto';
import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readStreamStats } from '../records/stats.ts';
import { recordAttempts } from './attempts.ts';
import { type Attempt, type Delivery, readDueDeliveries } from './outbox.ts';
import { addMatches, addStream, readOutbox } from './testing/delivery-stage.ts';
import { EXAMPLE_DELAYS_MS } from './testing/example-retries.ts';

let scratch: ScratchDatabase;
let streamId: string;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());
beforeEach(async () => {
  await scratch.database.query(
    sql`TRUNCATE streams, stream_matches, stream_deliveries, stream_attempts, webhook_health`,
  );
  streamId = await addStream(scratch.database, { webhookUrl: 'http://receiver.example/' });
});

const NOW = new Date('2030-01-01T00:00:00Z');

async function claim(blocks: readonly number[]): Promise<Delivery[]> {
  await addMatches(scratch.database, streamId, { blocks });
  const due = await readDueDeliveries(scratch.database, { streamIds: [streamId], limit: 100, without: [] });
  return due.map(({ delivery }) => delivery);
}

function attempt(delivery: Delivery | undefined, success: boolean, body = '{"retries":0}'): Attempt {
  if (delivery === undefined) throw new Error('Nothing was claimed');
  const outcome = success
    ? { success, httpStatus: 200, errorMessage: null, durationMs: 5 }
    : { success, httpStatus: 500, errorMessage: 'Request failed with status code 500', durationMs: 5 };
  return { id: randomUUID(), delivery, body, outcome, finishedAt: NOW };
}

const record = (...attempts: Attempt[]) => recordAttempts(scratch.database, attempts, EXAMPLE_DELAYS_MS);
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
    expect(await stats()).toMatchObject({
      webhooksDelivered: 1,
      webhooksFailed: 1,
      logsProcessed: 1,
      txsProcessed: 1,
    });
  });

  test('counts a webhook once, however often it arrives', async () => {
    const [delivery] = await claim([1]);
    const { verdicts } = await record(attempt(delivery, true), attempt(delivery, true));
    expect([...verdicts.values()]).toEqual(['delivered', 'repeated']);
    await record(attempt(delivery, true));
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, txsInternalProcessed: 1 });
    const [row] = await scratch.database.query(
      sql`SELECT count(*) AS attempts FROM stream_attempts WHERE success`,
    );
    expect(row).toEqual({ attempts: 3 });
  });

  test('a late failure neither undoes an arrival nor counts as another retry, but is told', async () => {
    const [arrived, failed] = await claim([1, 2]);
    await record(attempt(arrived, true), attempt(failed, false));
    const { verdicts } = await record(attempt(arrived, false), attempt(failed, false));
    expect([...verdicts.values()]).toEqual(['repeated', 'repeated']);
    expect(await outbox()).toMatchObject([
      { status: 'delivered', retries: 0 },
      { status: 'pending', retries: 1 },
    ]);
    // By the database clock, whatever time the attempt contains.
    const [due] = await scratch.database.query<{ seconds: number }>(
      sql`SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM stream_deliveries WHERE status = 'pending'`,
    );
    expect(due?.seconds).toBeGreaterThan(30);
    expect(due?.seconds).toBeLessThanOrEqual(60);
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, webhooksFailed: 3 });
  });

  test('a webhook whose block left the chain while it was sent counts when it arrived, and is not sent again', async () => {
    const [arrived, failed] = await claim([1, 2]);
    await scratch.database.query(sql`UPDATE stream_deliveries SET status = 'dropped'`);
    await record(attempt(arrived, true), attempt(failed, false));
    expect(await outbox()).toMatchObject([{ status: 'delivered' }, { status: 'dropped', retries: 0 }]);
    expect(await stats()).toMatchObject({ webhooksDelivered: 1, webhooksFailed: 1 });
  });

  test('keeps bodies of failures only', async () => {
    const [delivery, other] = await claim([1, 2]);
    await record(attempt(delivery, false, '{"retries":0,"sent":1}'), attempt(other, true));
    const rows = await scratch.database.query(sql`SELECT success, body FROM stream_attempts ORDER BY success`);
    expect(rows).toEqual([
      { success: false, body: '{"retries":0,"sent":1}' },
      { success: true, body: null },
    ]);
  });

  test('keeps the text of an arrival only if it was sent once more as it was', async () => {
    const [plain, replayed] = await claim([1, 2]);
    if (replayed === undefined) throw new Error('Nothing was claimed');
    const text = '{"retries":0,"sent":1}';
    await record(attempt(plain, true), attempt({ ...replayed, resend: text }, true, text));
    const rows = await scratch.database.query(
      sql`SELECT status, body FROM stream_deliveries ORDER BY block_number`,
    );
    expect(rows).toEqual([
      { status: 'delivered', body: null },
      { status: 'delivered', body: text },
    ]);
  });

  test('moves the success rate of the URL in the order of the attempts, between 0 and 100', async () => {
    const [delivery] = await claim([1]);
    const rate = async () =>
      (await scratch.database.query<{ successRate: number }>(sql`SELECT success_rate FROM webhook_health`))[0]
        ?.successRate;
    await record(attempt(delivery, true));
    expect(await rate()).toBeUndefined();
    await record(
      attempt(delivery, false),
      attempt(delivery, true),
      attempt(delivery, true),
      attempt(delivery, false),
    );
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
