import { setTimeout as sleep } from 'node:timers/promises';
import type { ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import type { Benchmark, BenchmarkSizes } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { quantile } from '../statistics.ts';
import { addStreams, addWebhooks, streamId } from '../stream-rows.ts';
import { withWebhookReceivers } from '../webhook-receivers.ts';
import { startDeliveryWorker } from '../webhook-worker.ts';

/** Receivers that answer at once. */
const OTHERS = 10;
const IDS = Array.from({ length: OTHERS + 1 }, (_, number) => streamId(number));
const SLOW_MS = 10_000;
/** Each stream gets a webhook so often. */
const BLOCK_MS = 100;
/** Of these nothing counts: the worker starts in their time. */
const WARM_UP_BLOCKS = 20;
const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 60_000;

/** Ten receivers that answer at once, and one more that either does so too or answers after ten seconds. */
export const streamsIsolation: Benchmark = {
  name: 'streams-isolation',
  title: "Webhooks' delay beside a receiver that answers after ten seconds, against one that answers at once",
  async run({ server, sizes, runs, say }) {
    const { first, second } = await alternate(
      runs,
      { name: 'beside a slow receiver', run: () => measureDelays(server, sizes, SLOW_MS) },
      { name: 'beside a quick one', run: () => measureDelays(server, sizes, 0) },
      say,
    );
    const p = (side: readonly (readonly number[])[], share: number): number[] =>
      side.map((delays) => quantile(delays, share));
    const unit = 'ms';
    return {
      comparisons: [
        { name: 'median delay', unit, ours: p(first, 0.5), peer: p(second, 0.5), target: { atMost: 1.1 } },
        { name: 'p99 of the delay', unit, ours: p(first, 0.99), peer: p(second, 0.99) },
      ],
      measures: [],
      notes: [
        'Here the peer is Chainstead itself. A delay is from the commit that makes the webhook to its answer.',
        `${OTHERS} receivers on ports of their own and the slow one get a webhook every ${BLOCK_MS} ms each, for ${sizes.isolationSeconds} s; the queue is in Postgres.`,
      ],
    };
  },
};

/** @returns the delays of the other receivers' webhooks in milliseconds */
async function measureDelays(server: ScratchServer, sizes: BenchmarkSizes, delayMs: number): Promise<number[]> {
  const delaysMs = [delayMs, ...Array.from({ length: OTHERS }, () => 0)];
  return withWebhookReceivers({ delaysMs }, async ({ urls }) => {
    const scratch = await server.createDatabase();
    try {
      await addStreams(
        scratch,
        IDS.map((id, number) => ({ id, webhookUrl: urls[number] ?? '' })),
      );
      await addBlock(scratch, 0);
      const worker = startDeliveryWorker(scratch.url);
      try {
        await arrived(scratch, 0);
        const blocks = WARM_UP_BLOCKS + (sizes.isolationSeconds * 1_000) / BLOCK_MS;
        const startedAt = performance.now();
        for (let block = 1; block <= blocks; block++) {
          await addBlock(scratch, block);
          const due = startedAt + block * BLOCK_MS - performance.now();
          if (due > 0) await sleep(due);
        }
        await arrived(scratch, blocks);
      } finally {
        await worker.stop();
      }
      return await readDelays(scratch);
    } finally {
      await scratch.drop();
    }
  });
}

/** A match of each stream. */
function addBlock(scratch: ScratchDatabase, block: number): Promise<void> {
  return addWebhooks(
    scratch,
    IDS,
    IDS.map((_, place) => block * IDS.length + place),
  );
}

/** Waits until the others have everything up to a block. */
async function arrived({ database }: ScratchDatabase, block: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await database.query<{ waiting: number }>(
      "SELECT count(*) AS waiting FROM stream_deliveries WHERE status = 'pending' AND stream_id <> $1 AND block_number < $2",
      [IDS[0], (block + 1) * IDS.length],
    );
    if (row?.waiting === 0) return;
    if (performance.now() > deadline) throw new BenchmarkError(`${row?.waiting} webhooks did not arrive`);
    await sleep(LOOK_EVERY_MS);
  }
}

async function readDelays({ database }: ScratchDatabase): Promise<number[]> {
  const rows = await database.query<{ ms: number }>(
    `SELECT (extract(epoch FROM delivered_at - created_at) * 1000)::float8 AS ms FROM stream_deliveries
     WHERE stream_id <> $1 AND block_number >= $2`,
    [IDS[0], (1 + WARM_UP_BLOCKS) * IDS.length],
  );
  return rows.map(({ ms }) => ms);
}
