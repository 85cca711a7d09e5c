/** The story of assets: they are minted, moved and burned, and answers are compared with what the contracts say. */
import { createSeededRandom, type ScratchServer } from '@chainstead/testkit';
import { runStory, type Story, type StoryPlan, type StoryResult } from '../story/run-story.ts';
import { compareEverything, compareSome } from './compare.ts';
import { mineActions } from './play.ts';
import { openAssetQuestions } from './questions.ts';
import { readTruth } from './truth.ts';
import { type AssetsWorld, requireContracts, startWorld } from './world.ts';

const ASSETS: Story<AssetsWorld> = {
  startWorld,
  mineActions,
  requireSound: requireContracts,
  openQuestions: openAssetQuestions,
  async compare(stage, what) {
    const truth = await readTruth(stage.world, stage.head);
    return (what === 'some' ? compareSome : compareEverything)(stage, truth);
  },
};

export function runAssets(plan: StoryPlan, server: ScratchServer): Promise<StoryResult> {
  return runStory(ASSETS, plan, server, createSeededRandom(`assets/${plan.seed}/story`));
}
