/** Plays a story: the real program over a real node, and its answers against what the node says. */
import { type Clock, errorText, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ScratchDatabase, ScratchServer, SeededRandom } from '@chainstead/testkit';
import { breakConnections } from '../simulated-servers.ts';
import type { StoryApi } from './api.ts';
import { type BranchingWorld, reorganise, tryBranch } from './branches.ts';
import type { PlannedEvent, StoryEvent } from './events.ts';
import { readHead } from './node.ts';
import { type StoryProgram, startStory } from './program.ts';
import type { Questions } from './questions.ts';
import type { StoryChain } from './story-chain.ts';

export interface StoryPlan {
  readonly seed: number;
  readonly actions: number;
  readonly chain: StoryChain;
  /** Actions before the program starts. */
  readonly history: number;
  /** Whether the index begins with the chain; else in the middle of that history. */
  readonly isWhole: boolean;
  /** Settings of the chain, without its name. */
  readonly ofChain: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
  /** By the action before it, the earliest first. */
  readonly events: readonly PlannedEvent[];
}

/** What a story consists of. */
export interface Story<World extends BranchingWorld> {
  /** Starts the node, which from then on mines on demand. */
  startWorld(chain: StoryChain, random: SeededRandom): Promise<World>;
  /** Draws so many actions and mines a block of them. @returns what was sent, for people to read */
  mineActions(world: World, random: SeededRandom, count: number): Promise<readonly { readonly text: string }[]>;
  /** @throws Error if the node has lost something: its responses are no expected values then */
  requireSound(world: World): Promise<void>;
  /** Questions that are asked at any moment. */
  openQuestions(world: World, api: StoryApi, random: SeededRandom): Questions;
  /** While the chain stands still. @returns the first difference in words; null where there is none */
  compare(stage: ComparedStory<World>, what: 'some' | 'everything'): Promise<string | null>;
}

export interface ComparedStory<World> {
  readonly world: World;
  readonly api: StoryApi;
  readonly database: Database;
  readonly isWhole: boolean;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly head: { readonly number: number; readonly hash: string };
}

export interface StoryResult {
  readonly seed: number;
  readonly actions: number;
  readonly blocks: number;
  readonly reorgs: number;
  readonly kills: number;
  /** Questions that were asked at any moment, and comparisons with the node. */
  readonly questions: number;
  readonly comparisons: number;
  readonly seconds: number;
  /** With the action after which it was seen; null if every response is correct. */
  readonly failure: string | null;
}

interface Stage<World extends BranchingWorld> {
  readonly story: Story<World>;
  readonly plan: StoryPlan;
  readonly world: World;
  readonly random: SeededRandom;
  readonly scratch: ScratchDatabase;
  readonly program: StoryProgram;
  readonly questions: Questions;
  readonly clock: Clock;
  done: number;
  /** The newest action, for people to read. */
  newest: string;
  reorgs: number;
  kills: number;
  comparisons: number;
}

const ACTIONS_PER_BLOCK_MAX = 8;

export async function runStory<World extends BranchingWorld>(
  story: Story<World>,
  plan: StoryPlan,
  server: ScratchServer,
  random: SeededRandom,
  clock: Clock = systemClock,
): Promise<StoryResult> {
  const started = clock.now();
  const world = await story.startWorld(plan.chain, random);
  const { url: nodeUrl } = world.devnet;
  const scratch = await server.createDatabase();
  try {
    let done = 0;
    let half = 0;
    while (done < plan.history) {
      const { length } = await story.mineActions(world, random, random.integer(1, ACTIONS_PER_BLOCK_MAX));
      done += length;
      if (done <= plan.history / 2) half = (await readHead(nodeUrl)).number;
    }
    const { chain, ofChain, settings } = plan;
    const startBlock = plan.isWhole ? 0 : half;
    const program = await startStory({ chain, nodeUrl, scratch, clock, startBlock, ofChain, settings });
    const questions = story.openQuestions(world, program.api, random.fork('questions'));
    const counts = { done, newest: '', reorgs: 0, kills: 0, comparisons: 0 };
    const stage: Stage<World> = { story, plan, world, random, scratch, program, questions, clock, ...counts };
    try {
      // Any failure reports the seed and the action.
      const failure = await playStory(stage).catch(
        (error: unknown) => (error instanceof Error ? error.stack : null) ?? errorText(error),
      );
      return {
        seed: plan.seed,
        actions: stage.done,
        blocks: (await readHead(nodeUrl)).number,
        reorgs: stage.reorgs,
        kills: stage.kills,
        questions: questions.requested,
        comparisons: stage.comparisons,
        seconds: (clock.now() - started) / 1_000,
        failure: failure === null ? null : await reportFailure(stage, failure),
      };
    } finally {
      await program.stop();
    }
  } finally {
    await world.devnet.stop();
    await scratch.drop();
  }
}

/** @returns what is wrong, in words; null for nothing */
async function playStory<World extends BranchingWorld>(stage: Stage<World>): Promise<string | null> {
  const { story, plan, world, random, questions, clock } = stage;
  const events = [...plan.events];
  while (stage.done < plan.actions) {
    const sent = await story.mineActions(world, random, random.integer(1, ACTIONS_PER_BLOCK_MAX));
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
  return questions.failure ?? compare(stage, 'everything');
}

/** @returns what a comparison found */
async function play<World extends BranchingWorld>(
  stage: Stage<World>,
  event: StoryEvent,
): Promise<string | null> {
  const { story, world, random, questions, clock, scratch, program } = stage;
  if (event.kind === 'compare') return compare(stage, 'some');
  if (event.kind === 'break-database') await breakConnections(scratch);
  else if (event.kind === 'reorg') {
    await reorganise(world, event.depth);
    await story.requireSound(world);
    stage.reorgs++;
  } else if (event.kind === 'branch') {
    await tryBranch(world, async () => {
      for (let block = 0; block < event.blocks; block++)
        await story.mineActions(world, random, random.integer(1, 4));
      questions.ask();
      await clock.sleep(random.integer(0, 200));
    });
    await story.requireSound(world);
    stage.reorgs++;
  } else {
    await program.kill(event.roles);
    stage.kills++;
  }
  return null;
}

/** While the chain stands still. */
async function compare<World extends BranchingWorld>(
  stage: Stage<World>,
  what: 'some' | 'everything',
): Promise<string | null> {
  const { story, world, program, scratch, random, clock, plan } = stage;
  const unsettled = await program.settle();
  if (unsettled !== null) return unsettled;
  const { api } = program;
  const { isWhole } = plan;
  const head = await readHead(world.devnet.url);
  stage.comparisons++;
  return story.compare({ world, api, database: scratch.database, isWhole, clock, random, head }, what);
}

async function reportFailure<World extends BranchingWorld>(
  { done, newest, world, program }: Stage<World>,
  failure: string,
): Promise<string> {
  const { number } = await readHead(world.devnet.url);
  return `After action ${done} (${newest}), block ${number}:\n${failure}\n${program.output()}`;
}
