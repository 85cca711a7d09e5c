import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ScratchDatabase } from '@chainstead/testkit';
import { alternate, type Side } from '../alternate.ts';
import type { BareWebhooksPlan } from '../bare/bare-webhooks.ts';
import type { ReceivedCount } from '../bare/webhook-receivers.ts';
import { BASELINE_COMMIT, checkOutBaseline } from '../baseline.ts';
import type { Benchmark, BenchmarkContext, BenchmarkSizes, Comparison, Target } from '../benchmark.ts';
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

/**
 * An outbox full of webhooks to one local receiver, sent by the worker role. Where bodies are made, the peer posts the same bodies and
 * does nothing else; where they are to be made, it is the baseline's worker.
 */
export const streamsDelivery: Benchmark = {
  name: 'streams-delivery',
  title: 'Webhooks from the outbox to a local receiver, against bare posts of their bodies and against the baseline',
  run: (context) =>
    withWebhookReceivers({ delaysMs: [0] }, async (receivers) => {
      const comparisons = [await compareMade(context, receivers), await compareToBeMade(context, receivers)];
      return {
        comparisons,
        measures: [],
        notes: [
          `${context.sizes.webhooks} webhooks of ${STREAMS} streams to one host, ${AT_ONCE} at once on all sides; rates are of the time between the first and the last arrival.`,
          `The baseline is commit ${BASELINE_COMMIT}.`,
        ],
      };
    }),
};

async function compareMade(context: BenchmarkContext, receivers: WebhookReceivers): Promise<Comparison> {
  const bare = { name: 'bare posts', run: () => postBare(receivers, context.sizes) };
  const ours = { name: 'outbox', run: () => sendOutbox(context, receivers, { bodies: 'made' }) };
  return compare('bodies made', context, ours, bare, { atLeast: 0.25 });
}

async function compareToBeMade(context: BenchmarkContext, receivers: WebhookReceivers): Promise<Comparison> {
  const baseline = await checkOutBaseline();
  try {
    const side = (name: string, program?: string) => ({
      name: `${name}, bodies to be made`,
      run: () => sendOutbox(context, receivers, { bodies: 'to be made', program }),
    });
    const sides = [side('outbox'), side('baseline', baseline.program)] as const;
    return await compare('bodies to be made, baseline', context, ...sides, { atLeast: 1.3 });
  } finally {
    await baseline.remove();
  }
}

/** @throws BenchmarkError when the sides did not send the same */
async function compare(
  name: string,
  { runs, sizes, say }: BenchmarkContext,
  ours: Side<ReceivedCount>,
  peer: Side<ReceivedCount>,
  target: Target,
): Promise<Comparison> {
  const { first, second } = await alternate(runs, ours, peer, say);
  requireSameBodies([...first, ...second], sizes.webhooks);
  return { name, unit: 'webhooks/s', ours: first.map(rateOf), peer: second.map(rateOf), target };
}

interface Outbox {
  readonly bodies: 'made' | 'to be made';
  /** Whose worker sends it. Default: this checkout's. */
  readonly program?: string | undefined;
}

async function sendOutbox(
  { server, sizes }: BenchmarkContext,
  receivers: WebhookReceivers,
  { bodies, program }: Outbox,
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
    const worker = startDeliveryWorker(scratch.url, program);
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
