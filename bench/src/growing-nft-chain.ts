import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { CHAIN_ID } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { createGeneratedPool } from './generated-pool.ts';

/** A chain of mints, transfers and sales of NFTs by those who own them, whose collections, tokens and wallets become more with its height. */
export interface GrowingNftChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** Makes the blocks up to this one, which takes longer the more tokens there are. Those that it made before are forgotten. */
  prepare(block: number): Promise<void>;
  close(): Promise<void>;
}

/** Who owns what after 20,000,000 logs takes some 4 GB. */
const MAKER_HEAP_MB = 16_000;

/**
 * The same number of blocks gives the same chain. Blocks are made in a thread: who owns millions of tokens fills a heap, and collecting
 * the garbage beside it would slow down the program that is measured.
 */
export function createGrowingNftChain(blocks: number): GrowingNftChain {
  const chain = createChainRegistry().get(CHAIN_ID);
  const maker = new Worker(new URL('./growing-nft-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAKER_HEAP_MB },
  });
  let kept: readonly (readonly Log[])[] = [];
  let made = 0;
  const logsOf = (block: number): readonly Log[] => {
    const logs = kept[block - (made - kept.length) - 1];
    if (logs === undefined)
      throw new BenchmarkError(`Block ${block} is not there: those from ${made - kept.length + 1} to ${made} are`);
    return logs;
  };
  return {
    chain,
    pool: createGeneratedPool(chain, blocks, logsOf),
    prepare: async (block) => {
      const posted = once(maker, 'message');
      maker.postMessage(block);
      const [next]: (readonly (readonly Log[])[])[] = await posted;
      if (next === undefined) throw new BenchmarkError(`Blocks up to ${block} were not made`);
      kept = next;
      made += next.length;
    },
    close: async () => {
      await maker.terminate();
    },
  };
}
