/** The story of assets: they are minted, moved and burned, and responses are compared with the contracts. */
import { createSeededRandom, type ScratchServer, type SeededRandom } from '@chainstead/testkit';
import type { StoryApi } from '../story/api.ts';
import { openQuestions, type Questions } from '../story/questions.ts';
import { runStory, type Story, type StoryPlan, type StoryResult } from '../story/run-story.ts';
import { compareEverything, compareSome } from './compare.ts';
import { mineActions } from './play.ts';
import { readTruth } from './truth.ts';
import { type AssetsWorld, NFT_KINDS, requireContracts, startWorld, TOKEN_KINDS } from './world.ts';

const STATUSES = new Set([200, 202, 404, 503]);

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

/** Questions about assets: nothing of them is ever below zero. */
function openAssetQuestions(world: AssetsWorld, api: StoryApi, random: SeededRandom): Questions {
  return openQuestions(
    api,
    () => drawPath(world, random),
    STATUSES,
    (body) =>
      /"(?:balance|amount|value|total_supply|totalHolders)":"?-/.test(JSON.stringify(body))
        ? 'something below zero'
        : null,
  );
}

function drawPath(world: AssetsWorld, random: SeededRandom): string {
  const wallet = random.pick(world.holders);
  const token = world.tokens[random.pick(TOKEN_KINDS)];
  const nft = world.nfts[random.pick(NFT_KINDS)];
  return random.pick([
    `${wallet}/erc20`,
    `${wallet}/erc20`,
    `wallets/${wallet}/tokens`,
    `${wallet}/nft`,
    `wallets/${wallet}/approvals`,
    `erc20/${token}/owners`,
    `erc20/${token}/owners`,
    `erc20/${token}/holders`,
    `nft/${nft}/owners`,
    `nft/${nft}/stats`,
    `nft/${nft}`,
    `nft/${nft}/${random.integer(0, 30)}`,
  ]);
}
