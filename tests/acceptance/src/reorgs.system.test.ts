/** Reorganisations of every depth, through the real pool and sync engine: the tables are always those of the branch that stays. */

import { type ChainStatus, readChainStatuses } from '@chainstead/sync/ingest';
import { type ChainNode, createScriptedChain } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { describe } from 'vitest';
import { SCRIPTED_CHAIN_ID, scriptedChainFacts, waitUntil } from './indexed-chain.ts';
import { dumpTables, expectEqualToFreshIndex, expectTruth, untilIndexed } from './indexed-tables.ts';
import { type Stage, stagedTest } from './stage.ts';

/** The deepest reorganisation that the chain of these tests is rolled back for. */
const DEPTH_MAX = 12;

function shallowFacts(stage: Stage) {
  return { ...stage.facts, reorgDepthMax: DEPTH_MAX };
}

/** The stage's chain, indexed to its head. */
async function followed(stage: Stage): Promise<{ node: ChainNode; settled: () => Promise<void> }> {
  const facts = shallowFacts(stage);
  const node = await stage.serve();
  await stage.index([node], { chain: facts });
  const settled = () => untilIndexed(stage.scratch.database, facts, stage.chain);
  await settled();
  return { node, settled };
}

async function expectFinalTables(stage: Stage): Promise<void> {
  const { scratch, chain } = stage;
  await expectTruth(scratch.database, stage.facts, chain);
  await expectEqualToFreshIndex(scratch.database, stage.facts, chain);
}

async function statusOf(stage: Stage, chainId: number = stage.facts.id): Promise<ChainStatus | undefined> {
  const statuses = await readChainStatuses(stage.scratch.database, datasets, [stage.facts]);
  return statuses.find((status) => status.chainId === chainId);
}

// Invariant: SYNC-ROLLBACK-WHOLE
describe.concurrent('a reorganisation', () => {
  stagedTest(`of depths from 1 to the limit of ${DEPTH_MAX} is rolled back`, async ({ stage }) => {
    const { settled } = await followed(stage);
    for (const depth of [1, 2, 3, 7, DEPTH_MAX]) {
      stage.chain.reorg(depth, depth + 1);
      await settled();
      await expectTruth(stage.scratch.database, stage.facts, stage.chain);
    }
    await expectFinalTables(stage);
  });

  stagedTest('to a branch of the same length is seen although the head number stays', async ({ stage }) => {
    const { settled } = await followed(stage);
    stage.chain.reorg(3, 3);
    await settled();
    await expectFinalTables(stage);
  });

  stagedTest('to a shorter branch takes the head back', async ({ stage, expect }) => {
    const { settled } = await followed(stage);
    const before = stage.chain.head;
    stage.chain.reorg(6, 2);
    expect(stage.chain.head).toBe(before - 4);
    await settled();
    await expectFinalTables(stage);
    stage.chain.mine(9);
    await settled();
    await expectFinalTables(stage);
  });

  stagedTest(
    'upon a reorganisation, many times faster than they are read, ends at the last branch',
    async ({ stage }) => {
      const { settled } = await followed(stage);
      for (let turn = 0; turn < 40; turn++) {
        const depth = 1 + ((turn * 7) % 12);
        stage.chain.reorg(depth, depth + (turn % 3));
        await new Promise((resolve) => setTimeout(resolve, turn % 5 === 0 ? 30 : 3));
      }
      stage.chain.mine();
      await settled();
      await expectFinalTables(stage);
    },
  );

  stagedTest('back to a branch that was left before is followed again', async ({ stage, expect }) => {
    const { chain, scratch } = stage;
    const facts = shallowFacts(stage);
    // Two nodes whose chains part five blocks ago: the longer one wins, then the other grows above it.
    const other = createScriptedChain({ seed: 41, chainId: SCRIPTED_CHAIN_ID });
    other.mine(chain.head);
    expect(other.blockAt(other.head)?.hash).toBe(chain.blockAt(chain.head)?.hash);
    other.reorg(5, 6);
    const nodes = [await stage.serve(), await stage.serve({}, other)];
    const indexer = await stage.index(nodes, { chain: facts });
    await untilIndexed(scratch.database, facts, other);
    chain.mine(3);
    await untilIndexed(scratch.database, facts, chain);
    other.mine(6);
    await untilIndexed(scratch.database, facts, other);
    await expectTruth(scratch.database, facts, other);
    await expectEqualToFreshIndex(scratch.database, facts, other);
    expect((await indexer.metrics.reorgs.get()).values[0]?.value).toBeGreaterThanOrEqual(2);
  });

  stagedTest('while the process is down is found when it starts again', async ({ stage }) => {
    const facts = shallowFacts(stage);
    const node = await stage.serve();
    for (const [depth, length] of [
      [10, 14],
      [DEPTH_MAX, 1],
      [1, 200],
    ] as const) {
      const indexer = await stage.index([node], { chain: facts });
      await untilIndexed(stage.scratch.database, facts, stage.chain);
      await indexer.stop();
      stage.chain.reorg(depth, length);
    }
    await stage.index([node], { chain: facts });
    await untilIndexed(stage.scratch.database, facts, stage.chain);
    await expectFinalTables(stage);
  });

  stagedTest(
    'deeper than the limit stops the chain, and it alone, until the operator raises the limit',
    async ({ stage, expect }) => {
      const { chain, scratch } = stage;
      const facts = shallowFacts(stage);
      const otherChain = createScriptedChain({ seed: 43, chainId: SCRIPTED_CHAIN_ID + 1 });
      otherChain.mine(50);
      const otherFacts = { ...scriptedChainFacts(SCRIPTED_CHAIN_ID + 1), reorgDepthMax: DEPTH_MAX };
      await stage.index([await stage.serve({}, otherChain)], { chain: otherFacts });
      const node = await stage.serve();
      const stopped = await stage.index([node], { chain: facts });
      await untilIndexed(scratch.database, facts, chain);
      chain.mine(DEPTH_MAX);
      await untilIndexed(scratch.database, facts, chain);
      const checkpoint = chain.head;
      const before = await dumpTables(scratch.database, facts);

      chain.reorg(DEPTH_MAX + 1, DEPTH_MAX + 5);
      await waitUntil(async () => ((await statusOf(stage))?.stop === null ? 'the chain is not stopped' : null));
      const status = await statusOf(stage);
      expect(status?.stop?.code).toBe('REORG_TOO_DEEP');
      expect(status?.stop?.message).toContain(new URL(node.url).host);
      expect(status?.stop?.message).toContain(`more than ${DEPTH_MAX} blocks`);
      expect(status?.checkpoint).toBe(checkpoint);
      expect(await dumpTables(scratch.database, facts)).toEqual(before);

      otherChain.reorg(DEPTH_MAX, DEPTH_MAX + 3);
      await untilIndexed(scratch.database, otherFacts, otherChain);
      await expectTruth(scratch.database, otherFacts, otherChain);
      expect((await statusOf(stage, otherFacts.id))?.stop).toBeNull();
      await stopped.stop();
      expect((await statusOf(stage))?.stop?.code).toBe('REORG_TOO_DEEP');

      await stage.index([node], { chain: { ...facts, reorgDepthMax: DEPTH_MAX * 2 } });
      await untilIndexed(scratch.database, facts, chain);
      expect((await statusOf(stage))?.stop).toBeNull();
      await expectFinalTables(stage);
    },
  );
});
