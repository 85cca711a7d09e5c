/** From a seed to a story of transactions: the chain, where its index begins, and what befalls it after which of them. Pure. */
import { createSeededRandom } from '@chainstead/testkit';
import { drawEvents } from '../story/events.ts';
import type { StoryPlan } from '../story/run-story.ts';
import { STORY_CHAINS } from '../story/story-chain.ts';

export function planActivity(seed: number, actions: number): StoryPlan {
  const random = createSeededRandom(`activity/${seed}`);
  const history = Math.round(actions * (0.05 + random.next() * 0.25));
  return {
    seed,
    actions,
    chain: STORY_CHAINS[seed % STORY_CHAINS.length] ?? random.pick(STORY_CHAINS),
    history,
    isWhole: true,
    ofChain: {
      TRANSACTIONS: 'all',
      INTERNAL_TRANSFERS: 'all',
      VERIFICATION: 'strict',
      BACKFILL_ORDER: random.chance(0.7) ? 'newest-first' : 'oldest-first',
    },
    settings: { VERIFY_BLOCKS_PER_SECOND: '5000' },
    events: drawEvents(random, { from: history, to: actions }),
  };
}
