/** Swaps, pools and their states of the running program, over real contracts of five exchanges: all of it as the node has it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MarketStage, openMarketStage } from './market-stage.ts';

const CHAIN_ID = 1_337_042;
const REORG_DEPTH = 10;
let stage: MarketStage;

beforeAll(async () => {
  stage = await openMarketStage(CHAIN_ID, 'markets');
});
afterAll(() => stage?.close());

it('indexes swaps, proven pools and their states as the node has them', async () => {
  stage.start();
  await stage.script.act(50);
  await stage.untilIndexed();
  await stage.expectTruth();
});

it('takes back what a reorg takes away', async () => {
  await stage.script.act(40);
  await stage.reorg(REORG_DEPTH);
  await stage.script.act(45);
  await stage.untilIndexed();
  const { swaps, states } = await stage.expectTruth();
  expect([swaps > 100, states > 100]).toEqual([true, true]);
});

// Invariant: SYNC-PURE-DECODING
it('leaves the rows of a fresh index', () => stage.expectFreshIndex());
