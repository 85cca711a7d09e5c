import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
import {
  createScratchDatabase,
  createSeededRandom,
  type ReceivedWebhook,
  type ScratchDatabase,
  startWebhookReceiver,
} from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addMatches, addStream, type StagedDelivery } from './testing/delivery-stage.ts';
import type { WorkerProcessOptions } from './testing/worker-process.ts';

const DELIVERIES = 1_000;
const STREAMS = 10;
const KILLS = 10;
/** Worker clocks are ahead, behind or correct. */
const CLOCK_OFFSET_MS = 600_000;
const FAILING_SHARE = 0.1;
const SEED = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const PROGRAM = fileURLToPath(new URL('./testing/worker-process.ts', import.meta.url));

describe('1,000 webhooks', () => {
  let scratch: ScratchDatabase;
  const workers: ChildProcess[] = [];
  beforeEach(async () => {
    scratch = await createScratchDatabase();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map(kill));
    await scratch.drop();
  });

  function startWorker(clockOffsetMs = 0): void {
    const retryDelaysMs = Array.from({ length: 1_000 }, () => 50);
    const options: WorkerProcessOptions = { databaseUrl: scratch.url, retryDelaysMs, clockOffsetMs };
    workers.push(
      spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
  }

  /** Breaks every Postgres connection of the workers. */
  async function breakConnections(): Promise<void> {
    await scratch.database.query(
      sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'webhook worker'`,
    );
  }

  // Invariant: STREAM-OUTBOX
  test(`arrive at least once and are counted right through ${KILLS} kills (seed ${SEED})`, async () => {
    const random = createSeededRandom(SEED);
    const answered = new Map<ReceivedWebhook, number>();
    const receiver = await startWebhookReceiver({
      answer(webhook) {
        const status = random.chance(FAILING_SHARE) ? 503 : 200;
        answered.set(webhook, status);
        return { status, delayMs: random.integer(0, 10) };
      },
    });
    try {
      const deliveries = await fillOutbox(scratch, receiver.url);
      startWorker();
      startWorker();
      for (let kills = 1; kills <= KILLS; kills += 1) {
        await receiver.arrived(Math.floor((kills * DELIVERIES) / (KILLS + 1)));
        const [victim] = workers.splice(random.integer(0, 1), 1);
        if (victim !== undefined) await kill(victim);
        if (kills % 3 === 0) await breakConnections();
        startWorker(random.integer(-1, 1) * CLOCK_OFFSET_MS);
      }
      await expect.poll(() => countPending(scratch), { timeout: 60_000, interval: 200 }).toBe(0);
      await verify(scratch, deliveries, answered);
    } finally {
      await receiver.close();
    }
  });
});

async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const exited = once(worker, 'exit');
  worker.kill('SIGKILL');
  await exited;
}

/** Creates streams for several receivers on one machine. Each host name counts as a separate host. */
async function fillOutbox({ database }: ScratchDatabase, url: string): Promise<StagedDelivery[]> {
  const { port } = new URL(url);
  const blocks = Array.from({ length: DELIVERIES / STREAMS / 2 }, (_, index) => index);
  const all: StagedDelivery[] = [];
  for (let stream = 0; stream < STREAMS; stream += 1) {
    const host = stream % 2 === 0 ? '127.0.0.1' : 'localhost';
    const streamId = await addStream(database, { webhookUrl: `http://${host}:${port}/${stream}` });
    all.push(...(await addMatches(database, streamId, { blocks, kinds: ['unconfirmed', 'confirmed'] })));
  }
  return all;
}

async function countPending({ database }: ScratchDatabase): Promise<number> {
  const [row] = await database.query<{ pending: number }>(
    sql`SELECT count(*) AS pending FROM stream_deliveries WHERE status = 'pending'`,
  );
  return row?.pending ?? 0;
}

async function verify(
  { database }: ScratchDatabase,
  deliveries: readonly StagedDelivery[],
  answered: ReadonlyMap<ReceivedWebhook, number>,
): Promise<void> {
  const arrived = new Set<string>();
  const textOf = new Map<string, string>();
  for (const [{ headers, body }, status] of answered) {
    const { retries, streamId, block, confirmed } = JSON.parse(body);
    const id = String(headers['webhook-id']);
    const attempt = `${id}/${retries}`;
    expect(textOf.get(attempt) ?? body, 'a repeated attempt has the same text').toBe(body);
    textOf.set(attempt, body);
    if (status === 200) arrived.add(`${id} ${streamId} ${block.number} ${confirmed}`);
  }
  const expected = deliveries.map(
    ({ id, streamId, blockNumber, kind }) => `${id} ${streamId} ${blockNumber} ${kind === 'confirmed'}`,
  );
  expect([...arrived].toSorted()).toEqual(expected.toSorted());

  const [outbox] = await database.query<{ delivered: number }>(
    sql`SELECT count(*) AS delivered FROM stream_deliveries WHERE status = 'delivered'`,
  );
  expect(outbox).toEqual({ delivered: DELIVERIES });
  const [attempts] = await database.query<{ failed: number; arrived: number }>(
    sql`SELECT count(*) FILTER (WHERE NOT success) AS failed, count(DISTINCT delivery_id) FILTER (WHERE success) AS arrived
     FROM stream_attempts`,
  );
  expect(attempts?.arrived).toBe(DELIVERIES);
  const [sums] = await database.query<Record<string, number>>(
    sql`SELECT sum(webhooks_delivered)::int AS delivered, sum(webhooks_failed)::int AS failed, sum(logs_processed)::int AS logs,
       sum(txs_processed)::int AS txs, sum(txs_internal_processed)::int AS internal FROM stream_stats`,
  );
  expect(sums).toEqual({
    delivered: DELIVERIES,
    failed: attempts?.failed,
    logs: DELIVERIES,
    txs: DELIVERIES,
    internal: DELIVERIES,
  });
  const [statuses] = await database.query(sql`SELECT count(*) AS active FROM streams WHERE status = 'active'`);
  expect(statuses).toEqual({ active: STREAMS });
}
