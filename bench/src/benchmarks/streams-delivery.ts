import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import type { BareWebhooksPlan } from '../bare/bare-webhooks.ts';
import type { ReceivedCount } from '../bare/webhook-receiver.ts';
import type { Benchmark, BenchmarkContext, BenchmarkSizes, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startProcess } from '../measured-process.ts';
import { addStreams, addWebhooks, isAllSent, streamId } from '../stream-rows.ts';
import { type WebhookReceiver, withWebhookReceiver } from '../webhook-receiver.ts';
import { startDeliveryWorker } from '../webhook-worker.ts';

/** The program's default for one host. */
const AT_ONCE = 16;
const STREAMS = 10;
const STREAM_IDS = Array.from({ length: STREAMS }, (_, number) => streamId(number));
const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 300_000;

/** Webhooks of a full outbox, sent by the worker to one local receiver. The peer only posts the same bodies. */
export const streamsDelivery: Benchmark = {
  name: 'streams-delivery',
  title: 'Webhooks from the outbox to a local receiver, against bare posts of their bodies',
  run: (context) =>
    withWebhookReceiver(async (receiver) => ({
      comparisons: [await compare(context, receiver)],
      measures: [],
      notes: [
        `${context.sizes.webhooks} webhooks of ${STREAMS} streams to one host, ${AT_ONCE} concurrent on both sides. Rates count the time between the first and the last arrival.`,
      ],
    })),
};

/** @throws BenchmarkError if the sides sent different bodies */
async function compare(context: BenchmarkContext, receiver: WebhookReceiver): Promise<Comparison> {
  const { runs, sizes, say } = context;
  const { first, second } = await alternate(
    runs,
    { name: 'outbox', run: () => sendOutbox(context, receiver) },
    { name: 'bare posts', run: () => postBare(receiver, sizes) },
    say,
  );
  requireSameBodies([...first, ...second], sizes.webhooks);
  const target = { atLeast: 0.25 };
  return { name: 'webhooks', unit: 'webhooks/s', ours: first.map(rateOf), peer: second.map(rateOf), target };
}

async function sendOutbox(
  { server, sizes }: BenchmarkContext,
  receiver: WebhookReceiver,
): Promise<ReceivedCount> {
  const scratch = await server.createDatabase();
  try {
    await addStreams(
      scratch,
      STREAM_IDS.map((id) => ({ id, webhookUrl: receiver.url })),
    );
    const numbers = Array.from({ length: sizes.webhooks }, (_, number) => number);
    await addWebhooks(scratch, STREAM_IDS, numbers);
    await scratch.database.query(sql`VACUUM ANALYZE stream_deliveries, stream_matches`);
    await scratch.database.query(sql`CHECKPOINT`);
    await receiver.takeCount();
    const worker = startDeliveryWorker(scratch.url);
    try {
      await allSent(scratch);
    } finally {
      await worker.stop();
    }
    return await receiver.takeCount();
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

async function postBare(receiver: WebhookReceiver, sizes: BenchmarkSizes): Promise<ReceivedCount> {
  const plan: BareWebhooksPlan = {
    url: receiver.url,
    streamIds: STREAM_IDS,
    webhooks: sizes.webhooks,
    atOnce: AT_ONCE,
  };
  await receiver.takeCount();
  const script = startProcess({
    args: [fileURLToPath(new URL('../bare/bare-webhooks.ts', import.meta.url)), JSON.stringify(plan)],
    env: {},
  });
  await script.finished();
  return receiver.takeCount();
}

/** @throws BenchmarkError when anything was sent twice, not at all, or with another body. */
function requireSameBodies(all: readonly ReceivedCount[], webhooks: number): void {
  const bytes = new Set(all.map((run) => run.bytes));
  const wrong = all.find((run) => run.webhooks !== webhooks);
  if (wrong !== undefined) throw new BenchmarkError(`${wrong.webhooks} webhooks arrived instead of ${webhooks}`);
  if (bytes.size !== 1)
    throw new BenchmarkError(`The sides sent different bodies: ${[...bytes].join(', ')} bytes`);
}
