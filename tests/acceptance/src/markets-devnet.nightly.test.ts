/** 5,000 random actions in pools of five exchanges, with reorgs and kills of the program: all tables as the node has them after each block. */
import { createSeededRandom } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MarketStage, openMarketStage } from './market-stage.ts';

const CHAIN_ID = 1_337_071;
const SEED = 'markets-nightly';
const ROUNDS = 50;
const ACTIONS_PER_ROUND = 100;
const REORG_DEPTH_MAX = 30;
/** An hour: on a busy machine an action takes half a second. */
const TIMEOUT_MS = 3_600_000;
let stage: MarketStage;

beforeAll(async () => {
  stage = await openMarketStage(CHAIN_ID, SEED);
});
afterAll(() => stage?.close());

it(
  `has the markets of the node after ${ROUNDS * ACTIONS_PER_ROUND} actions, and the rows of a fresh index`,
  async () => {
    const random = createSeededRandom(`${SEED}/rounds`);
    const counts = { kills: 0, reorgs: 0, states: 0 };
    let program = stage.start();
    let next: number | undefined;
    const kill = async (): Promise<void> => {
      await program.kill();
      program = stage.start();
      counts.kills += 1;
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = random.integer(20, ACTIONS_PER_ROUND - 20);
      await stage.script.act(before);
      if (random.chance(0.6)) {
        await stage.reorg(random.integer(1, REORG_DEPTH_MAX));
        counts.reorgs += 1;
      }
      if (random.chance(0.4)) await kill();
      await stage.script.act(ACTIONS_PER_ROUND - before);
      await stage.untilIndexed();
      const { states, head } = await stage.expectTruth(next);
      counts.states += states;
      // A reorg of the next round may replace the blocks above.
      next = head - REORG_DEPTH_MAX;
    }
    await stage.expectTruth();
    await stage.expectFreshIndex();
    expect(counts.kills).toBeGreaterThan(ROUNDS / 8);
    expect(counts.reorgs).toBeGreaterThan(ROUNDS / 3);
    expect(counts.states).toBeGreaterThan(ROUNDS * ACTIONS_PER_ROUND);
    expect(stage.script.refused).toBeLessThan((ROUNDS * ACTIONS_PER_ROUND) / 20);
  },
  TIMEOUT_MS,
);
