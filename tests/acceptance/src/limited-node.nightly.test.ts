/** An ingest process with default settings over a node that refuses calls above a rate that no setting states. */
import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import { readChainStatuses } from '@chainstead/sync/ingest';
import {
  createScratchDatabase,
  createScriptedChain,
  type FaultSettings,
  serveScriptedChain,
} from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { expect, test } from 'vitest';
import { startIndexer } from './indexed-chain.ts';

const BLOCKS = 400;
const BLOCK_MS = 5_000;
/** Until then, the rate is learned and the blocks of the start are read. */
const SETTLED_MS = { 5: 180_000, 20: 60_000, 100: 60_000 } as const;
const JUDGED_MS = 60_000;

type Throttle = NonNullable<FaultSettings['throttle']>;

test.concurrent.each<{ limit: keyof typeof SETTLED_MS; style: Throttle['style']; retryAfterSeconds?: number }>([
  { limit: 5, style: 'http-429' },
  { limit: 5, style: 'rpc-32005' },
  { limit: 20, style: 'http-429' },
  { limit: 20, style: 'http-429', retryAfterSeconds: 1 },
  { limit: 20, style: 'rpc-429-in-200' },
  { limit: 100, style: 'rpc-429-in-200' },
])(
  'a limit of $limit calls a second ($style) is learned, and the head is followed',
  async ({ limit, ...style }) => {
    const id = 1_337_060 + Math.floor(Math.random() * 10_000);
    const scratch = await createScratchDatabase();
    const chain = createChainRegistry({
      additional: [{ key: `limited-${id}`, id, pollIntervalMs: 1_000, headerHash: true, proofPolicy: 'strict' }],
    }).get(`limited-${id}`);
    const scripted = createScriptedChain({ seed: 41, chainId: id });
    scripted.mine(BLOCKS);
    const node = await serveScriptedChain(scripted, {
      faults: { throttle: { ...style, callsPerSecond: limit } },
    });
    const { database } = scratch;
    const indexer = await startIndexer({ chain, urls: [node.url], database, clock: systemClock });
    const calls = (): number => Object.values(node.counters.calls).reduce((sum, count) => sum + count, 0);
    let newest = BLOCKS;
    const mineFor = async (milliseconds: number, each: () => Promise<void>): Promise<void> => {
      for (const end = Date.now() + milliseconds; Date.now() < end; ) {
        await systemClock.sleep(BLOCK_MS);
        await each();
        scripted.mine(1);
        newest += 1;
      }
    };
    try {
      await mineFor(SETTLED_MS[limit], async () => {});
      const before = { calls: calls(), refused: node.faults.injected.throttle };
      const lags: number[] = [];
      await mineFor(JUDGED_MS, async () => {
        const [status] = await readChainStatuses(database, datasets, [chain]);
        lags.push(newest - (status?.checkpoint ?? 0));
      });
      const refused = node.faults.injected.throttle - before.refused;
      expect(refused / (calls() - before.calls)).toBeLessThanOrEqual(0.02);
      expect(Math.max(...lags)).toBeLessThanOrEqual(2);
    } finally {
      await indexer.stop();
      await node.close();
      await scratch.drop();
    }
  },
);
