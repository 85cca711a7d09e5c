/** From a seed to a story of assets: the chain, where its index begins, and what befalls it after which action. Pure. */
import { createSeededRandom } from '@chainstead/testkit';
import { drawEvents } from '../story/events.ts';
import type { StoryPlan } from '../story/run-story.ts';
import { STORY_CHAINS } from '../story/story-chain.ts';

export function planAssets(seed: number, actions: number): StoryPlan {
  const random = createSeededRandom(`assets/${seed}`);
  const history = Math.round(actions * (0.05 + random.next() * 0.15));
  return {
    seed,
    actions,
    chain: STORY_CHAINS[seed % STORY_CHAINS.length] ?? random.pick(STORY_CHAINS),
    history,
    isWhole: seed % 3 !== 2,
    ofChain: { VERIFICATION: 'strict', BACKFILL_ORDER: random.chance(0.7) ? 'newest-first' : 'oldest-first' },
    settings: { VERIFY_BLOCKS_PER_SECOND: '5000', BALANCE_MAX_AGE_MS: '0' },
    events: drawEvents(random, { from: history, to: actions }),
  };
}
