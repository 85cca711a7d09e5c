/** Plays a story of assets: the real program over a real node, and its answers against what the contracts say. */
import { type Clock, errorText, systemClock } from '@chainstead/core';
import {
  createSeededRandom,
  freePort,
  type ScratchDatabase,
  type ScratchServer,
  type SeededRandom,
} from '@chainstead/testkit';
import { type IngestProcess, startIngest } from '../ingest-process.ts';
import { openApi, type StoryApi } from './api.ts';
import { compareEverything, compareSome } from './compare.ts';
import { readHead } from './node.ts';
import type { AssetsEvent, AssetsPlan } from './plan.ts';
import { mineActions, reorganise, tryBranch } from './play.ts';
import { openQuestions, type Questions } from './questions.ts';
import { readTruth } from './truth.ts';
import { type AssetsWorld, startWorld } from './world.ts';

export interface AssetsResult {
  readonly seed: number;
  readonly actions: number;
  readonly blocks: number;
  readonly reorgs: number;
  readonly kills: number;
  /** Questions that were asked at any moment, and comparisons with the node. */
  readonly questions: number;
  readonly comparisons: number;
  readonly seconds: number;
  /** With the action after which it was seen; null when every answer is as it must be. */
  readonly failure: string | null;
}

interface Stage {
  readonly plan: AssetsPlan;
  readonly world: AssetsWorld;
  readonly random: SeededRandom;
  readonly scratch: ScratchDatabase;
  readonly environment: Readonly<Record<string, string>>;
  readonly api: StoryApi;
  readonly questions: Questions;
  readonly clock: Clock;
  readonly processes: Record<'ingest' | 'api,worker', IngestProcess>;
  done: number;
  /** The newest action, for people to read. */
  newest: string;
  reorgs: number;
  kills: number;
  comparisons: number;
}

/** Ample: three processes start at once, on a machine that has other work too. */
const SETTLE_TIMEOUT_MS = 180_000;
const POLL_MS = 20;
const ACTIONS_PER_BLOCK_MAX = 8;

export async function runAssets(
  plan: AssetsPlan,
  server: ScratchServer,
  clock: Clock = systemClock,
): Promise<AssetsResult> {
  const started = clock.now();
  const random = createSeededRandom(`assets/${plan.seed}/story`);
  const world = await startWorld(plan.chain, random);
  const scratch = await server.createDatabase();
  try {
    let done = 0;
    let half = 0;
    while (done < plan.history) {
      const { length } = await mineActions(world, random, random.integer(1, ACTIONS_PER_BLOCK_MAX));
      done += length;
      if (done <= plan.history / 2) half = (await readHead(world.devnet.url)).number;
    }
    const environment = await environmentOf(plan, world, scratch, half);
    const api = openApi(() => `http://127.0.0.1:${environment.PORT}`, plan.chain.key);
    const questions = openQuestions(world, api, random.fork('questions'));
    const processes = {
      ingest: startIngest(environment),
      'api,worker': startIngest(environment, 'api,worker'),
    };
    const counts = { done, newest: '', reorgs: 0, kills: 0, comparisons: 0 };
    const stage: Stage = { plan, world, random, scratch, environment, api, questions, clock, processes, ...counts };
    try {
      // Whatever ends it, the seed and the action are told.
      const failure = await playStory(stage).catch(
        (error: unknown) => (error instanceof Error ? error.stack : null) ?? errorText(error),
      );
      return {
        seed: plan.seed,
        actions: stage.done,
        blocks: (await readHead(world.devnet.url)).number,
        reorgs: stage.reorgs,
        kills: stage.kills,
        questions: questions.asked,
        comparisons: stage.comparisons,
        seconds: (clock.now() - started) / 1_000,
        failure: failure === null ? null : await tellFailure(stage, failure),
      };
    } finally {
      await Promise.all(Object.values(stage.processes).map((process) => process.kill()));
    }
  } finally {
    await world.devnet.stop();
    await scratch.drop();
  }
}

/** @returns what is wrong, in words; null for nothing */
async function playStory(stage: Stage): Promise<string | null> {
  const { plan, world, random, questions, clock } = stage;
  const events = [...plan.events];
  while (stage.done < plan.actions) {
    const sent = await mineActions(world, random, random.integer(1, ACTIONS_PER_BLOCK_MAX));
    stage.done += sent.length;
    stage.newest = sent.at(-1)?.text ?? stage.newest;
    if (random.chance(0.3)) questions.ask();
    // Now and then the program may catch up; mostly it has to keep pace.
    if (random.chance(0.05)) await clock.sleep(random.integer(5, 150));
    while ((events[0]?.after ?? Number.POSITIVE_INFINITY) <= stage.done) {
      const event = events.shift()?.event;
      const failure = event === undefined ? null : await play(stage, event);
      if (failure !== null || questions.failure !== null) return failure ?? questions.failure;
    }
  }
  await questions.settle();
  return questions.failure ?? compare(stage, compareEverything);
}

/** @returns what a comparison found */
async function play(stage: Stage, event: AssetsEvent): Promise<string | null> {
  const { world, random, questions, clock, scratch } = stage;
  if (event.kind === 'compare') return compare(stage, compareSome);
  if (event.kind === 'break-database') await breakConnections(scratch);
  else if (event.kind === 'reorg') {
    await reorganise(world, event.depth);
    stage.reorgs++;
  } else if (event.kind === 'branch') {
    await tryBranch(world, random, event.blocks, async () => {
      questions.ask();
      await clock.sleep(random.integer(0, 200));
    });
    stage.reorgs++;
  } else {
    await stage.processes[event.roles].kill();
    stage.processes[event.roles] = startIngest(stage.environment, event.roles);
    stage.kills++;
  }
  return null;
}

/** While the chain stands still. */
async function compare(stage: Stage, what: typeof compareSome): Promise<string | null> {
  const { world, api, scratch, random, clock, plan } = stage;
  const unsettled = await settle(stage);
  if (unsettled !== null) return unsettled;
  const truth = await readTruth(world, await readHead(world.devnet.url));
  stage.comparisons++;
  const compared = { world, api, database: scratch.database, isWhole: plan.isWhole, clock, random };
  return what(compared, truth);
}

/** Waits until the newest block is indexed, and the API answers. @returns why it is not */
async function settle({ world, scratch, clock, plan, api }: Stage): Promise<string | null> {
  const { number, hash } = await readHead(world.devnet.url);
  const deadline = clock.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    const [row] = await scratch.database.query<{ hash: string; checkpoint: number; why: string | null }>(
      `SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash, checkpoint, coalesce(stop_message, stall_reason) AS why
         FROM sync_chains WHERE chain_id = $1`,
      [plan.chain.id],
    );
    if (row?.hash === hash && (await isAnswering(api))) return null;
    if (clock.now() > deadline)
      return `Not settled after ${SETTLE_TIMEOUT_MS / 1_000} s: the checkpoint is ${row?.checkpoint} ${row?.hash}, the newest block ${number} ${hash}: ${row?.why ?? 'no reason given'}`;
    await clock.sleep(POLL_MS);
  }
}

async function isAnswering(api: StoryApi): Promise<boolean> {
  try {
    return (await api.ask('erc20/metadata/symbols', { symbols: 'PLAIN' })).status === 200;
  } catch {
    // Nobody listens yet: the process starts.
    return false;
  }
}

/** Ends every connection of the program to the database, as a failover would. */
async function breakConnections({ database }: ScratchDatabase): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'chainstead-test'`,
  );
}

async function environmentOf(
  { chain, isWhole, backfillOrder }: AssetsPlan,
  { devnet }: AssetsWorld,
  scratch: ScratchDatabase,
  half: number,
): Promise<Record<string, string>> {
  const suffix = chain.key.toUpperCase().replaceAll('-', '_');
  return {
    DATABASE_URL: scratch.url,
    DATABASE_POOL_SIZE: '6',
    PORT: String(await freePort()),
    CHAINS: chain.key,
    ...(chain.isKnown ? {} : { [`CHAIN_ID_${suffix}`]: String(chain.id) }),
    [`RPC_URLS_${suffix}`]: devnet.url,
    [`START_BLOCK_${suffix}`]: isWhole ? '0' : String(half),
    [`POLL_INTERVAL_MS_${suffix}`]: '25',
    [`REORG_DEPTH_MAX_${suffix}`]: '64',
    [`PROOF_${suffix}`]: 'strict',
    [`BACKFILL_ORDER_${suffix}`]: backfillOrder,
    PROVER_RATE: '5000',
    BALANCE_MAX_AGE_MS: '0',
    INDEX_WAIT_MS: '5000',
    ON_DEMAND_PER_KEY: '100000',
    LOG_LEVEL: 'warn',
  };
}

async function tellFailure({ done, newest, world, processes }: Stage, failure: string): Promise<string> {
  const { number } = await readHead(world.devnet.url);
  const outputs = Object.entries(processes).map(([roles, process]) => `Output of ${roles}:\n${process.output()}`);
  return `After action ${done} (${newest}), block ${number}:\n${failure}\n${outputs.join('\n')}`;
}
