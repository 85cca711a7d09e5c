import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { TABLE_WRITES } from '@chainstead/db/table-writes';
import { type FollowWatch, lookAtFollower, reachHead, watchFollower } from './follow-watch.ts';
import { memoryInMetrics, treeMemory } from './memory.ts';
import { drainWebhooks, measurePeak, type Peak } from './peak.ts';
import { progressLine } from './report-text.ts';
import type { Sample } from './sample.ts';
import type { SoakResult } from './soak-result.ts';
import { openStage, type Stage } from './stage.ts';
import { watchStolenTime } from './stolen-time.ts';
import { compareStored, findWrongBalances } from './stored-facts.ts';
import { countDeadRows, lookAtTables, type TableContents } from './table-probe.ts';
import { latencyVerdicts, memoryVerdicts, noneOf, tableVerdicts, type Verdict } from './verdicts.ts';
import type { BookedFacts } from './webhook-book.ts';
import type { Missing, PaceOrder, WorldWindow } from './world.ts';

export interface SoakPlan {
  /** Of the hold; the peak is measured before. */
  readonly minutes: number;
  /** Blocks a second; null: measured. */
  readonly blocksPerSecond: number | null;
  /** Of the peak. */
  readonly share: number;
  readonly pagesPerSecond: number;
  /** That pages are of. */
  readonly wallets: number;
  readonly streams: number;
  readonly transactionsPerBlock: number;
  readonly sampleSeconds: number;
  readonly seed: number;
  /** More configuration of the program. */
  readonly env: Readonly<Record<string, string>>;
}

const CHAIN_ID = 1;
const LOGS_PER_TRANSACTION = 2;
const REORG_EVERY_SECONDS = 20;
const DRAIN_MS = 60_000;
/** Older webhooks than this are late in a sample. */
const LATE_MS = 30_000;

/**
 * Starts everything, finds the peak, holds a part of it, and judges. Aborted, it judges what there is.
 * @throws SoakError when something did not start
 */
export async function runSoak(plan: SoakPlan, say: (text: string) => void, signal: AbortSignal): Promise<SoakResult> {
  say('Starting Postgres, the chain, the program and the load');
  const stage = await openStage({
    world: {
      seed: plan.seed,
      chainId: CHAIN_ID,
      wallets: plan.wallets,
      streams: plan.streams,
      transactionsPerBlock: plan.transactionsPerBlock,
      logsPerTransaction: LOGS_PER_TRANSACTION,
    },
    pagesPerSecond: plan.pagesPerSecond,
    env: plan.env,
  });
  try {
    const peak = plan.blocksPerSecond === null ? await peakUnlessAborted(stage, say, signal) : null;
    const held = plan.blocksPerSecond ?? (peak?.blocksPerSecond ?? 0) * plan.share;
    say(`Holding ${held.toFixed(1)} blocks/s for ${plan.minutes} minutes`);
    const samples = signal.aborted ? [] : await hold(stage, plan, held, say, signal);
    say(signal.aborted ? 'Interrupted: judging what there is' : 'Waiting for what is on its way');
    const { verdicts, contents } = await judge(stage, samples);
    return { peak, held, interrupted: signal.aborted, samples, contents, verdicts };
  } finally {
    await stage.close();
  }
}

async function peakUnlessAborted(stage: Stage, say: (text: string) => void, signal: AbortSignal): Promise<Peak | null> {
  say('Looking for the peak');
  try {
    return await measurePeak(stage, say, signal);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function hold(
  stage: Stage,
  plan: SoakPlan,
  blocksPerSecond: number,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<Sample[]> {
  await stage.tell('pace', { blocksPerSecond, reorgEverySeconds: REORG_EVERY_SECONDS } satisfies PaceOrder);
  stage.pages.take();
  stage.takeComplaints();
  await stage.tell('take', {});
  const follower = watchFollower(stage);
  const stolenTime = await watchStolenTime();
  const startedAt = performance.now();
  const samples: Sample[] = [];
  try {
    while (!signal.aborted && performance.now() - startedAt < plan.minutes * 60_000) {
      const wakeAt = startedAt + (samples.length + 1) * plan.sampleSeconds * 1_000;
      await sleep(Math.max(0, wakeAt - performance.now()), undefined, { signal }).catch(unlessAborted(signal));
      const before = samples.at(-1)?.seconds ?? 0;
      const seconds = (performance.now() - startedAt) / 1_000;
      const sample = { ...(await takeSample(stage, follower, seconds, before)), stolen: await stolenTime() };
      samples.push(sample);
      say(progressLine(sample, plan.minutes * 60));
    }
  } finally {
    await follower.stop();
    await stage.tell('pace', { blocksPerSecond: 0, reorgEverySeconds: 0 } satisfies PaceOrder);
  }
  return samples;
}

function unlessAborted(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

async function takeSample(
  stage: Stage,
  follower: FollowWatch,
  seconds: number,
  before: number,
): Promise<Omit<Sample, 'stolen'>> {
  const [world, late, tables, metrics, postgres] = await Promise.all([
    stage.tell<WorldWindow>('take', {}),
    stage.tell<Missing>('missing', {
      upTo: follower.checkpoint,
      confirmations: Number.MAX_SAFE_INTEGER,
      olderThanMs: LATE_MS,
    }),
    lookAtTables(stage.database),
    fetch(`${stage.apiUrl}/metrics`).then((response) => response.text()),
    treeMemory(stage.postgresPid),
  ]);
  const memory = memoryInMetrics(metrics);
  if (postgres !== null) memory.set('postgres', postgres);
  return {
    seconds,
    stretchSeconds: seconds - before,
    checkpoint: follower.checkpoint,
    lagsMs: follower.take(),
    world,
    late,
    pages: stage.pages.take(),
    memory,
    tables,
    load: loadavg()[0] ?? 0,
    complaints: stage.takeComplaints(),
  };
}

async function judge(
  stage: Stage,
  samples: readonly Sample[],
): Promise<{ verdicts: Verdict[]; contents: TableContents[] | null }> {
  const atHead = await reachHead(stage, DRAIN_MS);
  const missing = await drainWebhooks(stage);
  const last = await stage.tell<WorldWindow>('take', {});
  const { checkpoint, head } = await lookAtFollower(stage);
  const facts = await stage.tell<BookedFacts[]>('facts', { upTo: checkpoint });
  const differences = await compareStored(stage.database, facts);
  const balances = await findWrongBalances(stage.database);
  const sum = (of: (window: WorldWindow) => number): number =>
    [...samples.map(({ world }) => world), last].reduce((total, window) => total + of(window), 0);
  const failures = samples.flatMap(({ pages }) => Object.entries(pages.failures));
  const tables = samples.at(-1)?.tables ?? [];
  const verdicts = [
    ...memoryVerdicts(samples),
    ...tableVerdicts(samples, (table) => TABLE_WRITES[table]),
    ...latencyVerdicts(samples),
    noneOf('blocks not followed', atHead ? 0 : head - checkpoint),
    ...['transfers', 'NFT moves', 'sales'].map((kind) => {
      const wrong = differences.get(kind) ?? [];
      const examples = wrong
        .slice(0, 2)
        .map(({ block, stored, chain }) => `${block}: ${stored}, the chain has ${chain}`);
      return noneOf(`blocks with other ${kind} than the chain's`, wrong.length, examples);
    }),
    noneOf('NFT balances that are not the sum of the moves', balances.length, balances.slice(0, 2)),
    noneOf('webhooks lost', missing.unconfirmed + missing.confirmed),
    noneOf(
      'webhooks twice',
      sum(({ twice }) => twice),
    ),
    noneOf(
      'webhooks that nobody asked for',
      sum(({ unasked, orphaned }) => unasked + orphaned),
    ),
    noneOf(
      'webhooks with a wrong signature',
      sum(({ badSignatures }) => badSignatures),
    ),
    noneOf(
      'pages that failed',
      failures.reduce((total, [, count]) => total + count, 0),
      [...new Set(failures.map(([kind]) => kind))],
    ),
    noneOf('ends of the program', stage.program.ended ? 1 : 0),
  ];
  return {
    verdicts,
    contents: await countDeadRows(
      stage.admin,
      tables.map(({ name }) => name),
    ),
  };
}
