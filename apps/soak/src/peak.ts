import { setTimeout as sleep } from 'node:timers/promises';
import { lookAtFollower, reachHead, watchFollower } from './follow-watch.ts';
import { quantile } from './series.ts';
import { SoakError } from './soak-error.ts';
import { CONFIRMATIONS, type Stage } from './stage.ts';
import type { Missing, PaceOrder, WorldWindow } from './world.ts';

/** One rate that was tried. */
export interface PeakStep {
  readonly blocksPerSecond: number;
  readonly kept: boolean;
  /** What was not kept up with; empty when all was. */
  readonly why: string;
}

export interface Peak {
  readonly blocksPerSecond: number;
  readonly steps: readonly PeakStep[];
}

const WARM_UP = { blocksPerSecond: 4, seconds: 10 };
const FIRST_RATE = 8;
const STEP_SECONDS = 6;
/** Steps between the last rate that was kept up with and the first that was not. */
const HALVINGS = 3;
const RATE_MAX = 1_024;
/** What may be late at the end of a step. */
const LAG_MS_MAX = 300;
const WEBHOOK_MS_MAX = 2_000;
const PAGES_P99_MS_MAX = 1_000;
/** A node that leaves out so many of the blocks that were due can't tell what the program could do. */
const SKIPPED_SHARE_MAX = 0.02;
const DRAIN_MS = 60_000;
const REORG_EVERY_SECONDS = 20;

/** The rates to try: doubled until one is too fast, then halves of what lies between. Pure. */
export function nextRate(steps: readonly PeakStep[]): number | null {
  const good = Math.max(0, ...steps.filter(({ kept }) => kept).map(({ blocksPerSecond }) => blocksPerSecond));
  const bad = Math.min(...steps.filter(({ kept }) => !kept).map(({ blocksPerSecond }) => blocksPerSecond));
  if (bad === Number.POSITIVE_INFINITY) {
    const next = good === 0 ? FIRST_RATE : good * 2;
    return next > RATE_MAX ? null : next;
  }
  const tried = steps.length - steps.findIndex(({ kept }) => !kept) - 1;
  return tried < HALVINGS ? (good + bad) / 2 : null;
}

/** Blocks a second that the program keeps up with while webhooks are sent and pages answered. Takes about a minute. */
export async function measurePeak(stage: Stage, say: (text: string) => void, signal: AbortSignal): Promise<Peak> {
  const pace = (blocksPerSecond: number): Promise<unknown> =>
    stage.tell('pace', { blocksPerSecond, reorgEverySeconds: REORG_EVERY_SECONDS } satisfies PaceOrder);
  await pace(WARM_UP.blocksPerSecond);
  await sleep(WARM_UP.seconds * 1_000, undefined, { signal });
  const steps: PeakStep[] = [];
  for (let rate = nextRate(steps); rate !== null; rate = nextRate(steps)) {
    const why = await tryRate(stage, rate, pace, signal);
    steps.push({ blocksPerSecond: rate, kept: why === '', why });
    say(`  ${rate.toFixed(1)} blocks/s: ${why === '' ? 'kept up with' : why}`);
    if (why === '') continue;
    await pace(0);
    if (!(await reachHead(stage, DRAIN_MS)))
      throw new SoakError(
        'The program did not catch up after the peak was found',
        'chainstead status says why it stands',
        {
          steps,
        },
      );
    await drainWebhooks(stage);
  }
  const best = Math.max(0, ...steps.filter(({ kept }) => kept).map(({ blocksPerSecond }) => blocksPerSecond));
  if (best === 0)
    throw new SoakError(
      `The program keeps up with no rate: ${steps.at(-1)?.why}`,
      'Give the rate by --rate, or a faster machine',
    );
  return { blocksPerSecond: best, steps };
}

/** @returns what was not kept up with; empty when all was */
async function tryRate(
  stage: Stage,
  rate: number,
  pace: (rate: number) => Promise<unknown>,
  signal: AbortSignal,
): Promise<string> {
  await pace(rate);
  stage.pages.take();
  await stage.tell('take', {});
  const follower = watchFollower(stage);
  try {
    await sleep(STEP_SECONDS * 1_000, undefined, { signal });
  } finally {
    await follower.stop();
  }
  // The end of the step counts: at its beginning caches are cold.
  const lag = Math.min(...follower.take().slice(-4));
  const window = await stage.tell<WorldWindow>('take', {});
  const waiting = await stage.tell<Missing>('missing', {
    upTo: Number.MAX_SAFE_INTEGER,
    confirmations: Number.MAX_SAFE_INTEGER,
    olderThanMs: WEBHOOK_MS_MAX,
  });
  const p99 = quantile(stage.pages.take().latenciesMs, 0.99);
  if (lag > LAG_MS_MAX) return `${lag.toFixed(0)} ms behind the head`;
  if (waiting.unconfirmed > 0) return `${waiting.unconfirmed} webhooks later than ${WEBHOOK_MS_MAX} ms`;
  if (p99 > PAGES_P99_MS_MAX) return `pages took ${p99.toFixed(0)} ms (p99)`;
  if (window.skipped > window.mined * SKIPPED_SHARE_MAX) return 'more than the node can make';
  return '';
}

/** Waits until nothing is on its way any more. @returns what is missing of what must have come */
export async function drainWebhooks(stage: Stage): Promise<Missing & { readonly checkpoint: number }> {
  const deadline = performance.now() + DRAIN_MS;
  for (;;) {
    const { checkpoint } = await lookAtFollower(stage);
    const missing = await stage.tell<Missing>('missing', {
      upTo: checkpoint,
      confirmations: CONFIRMATIONS,
      olderThanMs: 0,
    });
    const [row] = await stage.database.query<{ waiting: number }>(
      "SELECT count(*) AS waiting FROM stream_deliveries WHERE status = 'pending'",
    );
    if ((missing.unconfirmed + missing.confirmed === 0 && row?.waiting === 0) || performance.now() > deadline)
      return { ...missing, checkpoint };
    await sleep(500);
  }
}
