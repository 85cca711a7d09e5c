/** The story of transactions: all types of them to all kinds of places; lists and histories are compared with the node's own chain. */
import { createSeededRandom, type ScratchServer, type SeededRandom } from '@chainstead/testkit';
import type { StoryApi } from '../story/api.ts';
import { openQuestions, type Questions } from '../story/questions.ts';
import { runStory, type Story, type StoryPlan, type StoryResult } from '../story/run-story.ts';
import { compareActivity } from './compare.ts';
import { mineActions } from './play.ts';
import { createChainReading } from './truth.ts';
import { type ActivityWorld, anybody, requireContracts, startWorld } from './world.ts';

export function runActivity(plan: StoryPlan, server: ScratchServer): Promise<StoryResult> {
  return runStory(createStory(), plan, server, createSeededRandom(`activity/${plan.seed}/story`));
}

function createStory(): Story<ActivityWorld> {
  let reading: ReturnType<typeof createChainReading> | undefined;
  return {
    startWorld,
    mineActions,
    requireSound: requireContracts,
    openQuestions: openActivityQuestions,
    async compare(stage, what) {
      reading ??= createChainReading(stage.world.devnet.url);
      return compareActivity(stage, what, await reading.read());
    },
  };
}

const STATUSES = new Set([200, 503]);

/** No list ever has a transaction twice, or out of order. */
function openActivityQuestions(world: ActivityWorld, api: StoryApi, random: SeededRandom): Questions {
  const drawPath = (): string => {
    const account = random.pick(anybody(world));
    return random.pick([account, `${account}/verbose`, `wallets/${account}/history`]);
  };
  return openQuestions(api, drawPath, STATUSES, (body) => {
    const rows =
      (body as { result?: readonly { block_number: string; transaction_index: string }[] }).result ?? [];
    const places = rows.map((row) => Number(row.block_number) * 10_000 + Number(row.transaction_index));
    return places.every((place, at) => at === 0 || place < (places[at - 1] ?? 0)) ? null : 'rows out of order';
  });
}
