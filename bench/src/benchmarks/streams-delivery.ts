import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import type { BareWebhooksPlan } from '../bare/bare-webhooks.ts';
import type { ReceivedCount } from '../bare/webhook-receivers.ts';
import type { Benchmark, BenchmarkSizes } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startProcess } from '../measured-process.ts';
import { addStreams, addWebhooks, isAllSent, streamId } from '../stream-rows.ts';
import { type WebhookReceivers, withWebhookReceivers } from '../webhook-receivers.ts';
import { startDeliveryWorker } from '../webhook-worker.ts';

/** The program's default for one host. */
const AT_ONCE = 16;
const STREAMS = 10;
const STREAM_IDS = Array.from({ length: STREAMS }, (_, number) => streamId(number));
const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 300_000;

/** An outbox full of webhooks to one local receiver, sent by the worker role; the peer posts the same bodies and does nothing else. */
export const streamsDelivery: Benchmark = {
  name: 'streams-delivery',
  title: 'Webhooks from the outbox to a local receiver, against bare posts of their bodies',
  run: ({ server, sizes, runs, say }) =>
    withWebhookReceivers({ delaysMs: [0] }, async (receivers) => {
      const bare = { name: 'bare posts', run: () => postBare(receivers, sizes) };
      const ours = { name: 'outbox', run: () => sendOutbox(server, receivers, sizes, 'made') };
      const { first, second } = await alternate(runs, ours, bare, say);
      requireSameBodies([...first, ...second], sizes.webhooks);
      const made: number[] = [];
      for (let run = 0; run < runs; run++) {
        say(`run ${run + 1} of ${runs}: bodies to be made`);
        made.push(rateOf(await sendOutbox(server, receivers, sizes, 'to be made')));
      }
      return {
        comparisons: [
          {
            name: 'bodies made',
            unit: 'webhooks/s',
            ours: first.map(rateOf),
            peer: second.map(rateOf),
            target: { atLeast: 0.25 },
          },
        ],
        measures: [{ name: 'bodies to be made', unit: 'webhooks/s', samples: made }],
        notes: [
          `${sizes.webhooks} webhooks of ${STREAMS} streams to one host, ${AT_ONCE} at once on both sides; rates are of the time between the first and the last arrival.`,
        ],
      };
    }),
};

async function sendOutbox(
  server: ScratchServer,
  receivers: WebhookReceivers,
  sizes: BenchmarkSizes,
  bodies: 'made' | 'to be made',
): Promise<ReceivedCount> {
  const scratch = await server.createDatabase();
  try {
    const [webhookUrl = ''] = receivers.urls;
    await addStreams(
      scratch,
      STREAM_IDS.map((id) => ({ id, webhookUrl })),
    );
    const numbers = Array.from({ length: sizes.webhooks }, (_, number) => number);
    await addWebhooks(scratch, STREAM_IDS, numbers, bodies);
    await scratch.database.query('VACUUM ANALYZE stream_deliveries, stream_matches');
    await scratch.database.query('CHECKPOINT');
    await receivers.takeCount();
    const worker = startDeliveryWorker(scratch.url);
    try {
      await allSent(scratch);
    } finally {
      await worker.stop();
    }
    return await receivers.takeCount();
  } finally {
    await scratch.drop();
  }
}

/** Webhooks a second. */
function rateOf({ webhooks, seconds }: ReceivedCount): number {
  return (webhooks - 1) / seconds;
}

async function allSent(scratch: ScratchDatabase): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isAllSent(scratch))) {
    if (performance.now() > deadline) throw new BenchmarkError('Webhooks still wait in the outbox');
    await sleep(LOOK_EVERY_MS);
  }
}

async function postBare(receivers: WebhookReceivers, sizes: BenchmarkSizes): Promise<ReceivedCount> {
  const [url = ''] = receivers.urls;
  const plan: BareWebhooksPlan = { url, streamIds: STREAM_IDS, webhooks: sizes.webhooks, atOnce: AT_ONCE };
  await receivers.takeCount();
  const script = startProcess({
    args: [fileURLToPath(new URL('../bare/bare-webhooks.ts', import.meta.url)), JSON.stringify(plan)],
    env: {},
  });
  await script.finished();
  return receivers.takeCount();
}

/** @throws BenchmarkError when anything was sent twice, not at all, or with another body. */
function requireSameBodies(all: readonly ReceivedCount[], webhooks: number): void {
  const bytes = new Set(all.map((run) => run.bytes));
  const wrong = all.find((run) => run.webhooks !== webhooks);
  if (wrong !== undefined) throw new BenchmarkError(`${wrong.webhooks} webhooks arrived instead of ${webhooks}`);
  if (bytes.size !== 1) throw new BenchmarkError(`The sides sent different bodies: ${[...bytes].join(', ')} bytes`);
}
