import { systemClock } from '@chainstead/core';
import { startDemoChain } from 'chainstead/src/demo/demo-chain.ts';
import { startDemoCoins } from 'chainstead/src/demo/demo-coins.ts';
import { startDemoProgram } from 'chainstead/src/demo/demo-program.ts';
import { startDemoStream } from 'chainstead/src/demo/demo-stream.ts';
import { expect, test } from 'vitest';
import { compareCoins } from './coins-comparison.ts';
import { readComparisons } from './comparisons.ts';
import { compareContract } from './contract-comparison.ts';
import { awaitEquality } from './equality.ts';
import { watchWebhooks } from './watch-webhooks.ts';

/** One sale each: all kinds of sale occur. */
const ROUNDS_OF_HISTORY = 9;
const ROUNDS_AT_THE_HEAD = 4;
const REORG_DEPTH = 6;

test('the API and the node return the same data in the history, at the head and after a reorg', async () => {
  const stop = new AbortController();
  const waiting = { clock: systemClock, signal: stop.signal };
  const output = { write: () => true };
  const context = {
    environment: {},
    stdout: output,
    stderr: output,
    clock: systemClock,
    stopSignal: stop.signal,
  };
  const chain = await startDemoChain();
  const coins = await startDemoCoins();
  try {
    await chain.makeTraffic(ROUNDS_OF_HISTORY);
    const program = await startDemoProgram({ chain, coins }, context, 0);
    try {
      const api = { address: program.address };
      const compare = async (stage: string): Promise<void> => {
        const comparisons = [
          ...(await readComparisons(chain, api)),
          await compareContract(chain.devnet, chain.market, api),
          ...compareCoins(coins, api),
        ];
        for (const { subject, expected } of comparisons)
          expect([stage, subject, expected]).not.toEqual([stage, subject, []]);
        await awaitEquality({ stage, comparisons, ...waiting });
      };
      await compare('history');
      const stream = await startDemoStream(program.address, chain);
      try {
        const webhooks = await watchWebhooks(chain, stream, waiting);
        await chain.makeTraffic(ROUNDS_AT_THE_HEAD);
        await compare('head');
        await webhooks.beforeReorg();
        await chain.devnet.reorg(REORG_DEPTH);
        await chain.makeTraffic(1);
        await compare('after the reorg');
        await webhooks.afterReorg();
      } finally {
        await stream.close();
      }
    } finally {
      stop.abort();
      await program.ended;
    }
  } finally {
    await coins.fullnode.close();
    await chain.stop();
  }
});
