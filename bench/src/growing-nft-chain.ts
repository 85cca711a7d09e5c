import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address, Log } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createBenchNfts, createSeededRandom } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { createGeneratedPool, placeOf, sha256 } from './generated-pool.ts';

/** A chain of mints, transfers and sales of NFTs by those who own them, whose collections, tokens and wallets become more with its height. */
export interface GrowingNftChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** Makes the blocks up to this one, which takes longer the more tokens there are. */
  prepare(block: number): void;
}

export const NFT_LOGS_PER_BLOCK = 100;
const LOGS_PER_TRANSACTION = 2;
const COLLECTIONS = 2_000;
const WALLETS_AT_FIRST = 1_000;
/** One draw of a wallet in so many is of a new one. */
const NEW_WALLET_EVERY = 5;
/** Blocks that may still be asked for when later ones have been made. */
const KEPT_BLOCKS = 2_000;

/** The same number of blocks gives the same chain. Blocks are made in their order, and the last ones are kept. */
export function createGrowingNftChain(blocks: number): GrowingNftChain {
  const chain = createChainRegistry().get(CHAIN_ID);
  const nextBlock = createBlocks();
  const kept = new Map<number, readonly Log[]>();
  let made = 0;
  const prepare = (block: number): void => {
    while (made < block) {
      made += 1;
      kept.set(made, nextBlock(made));
      kept.delete(made - KEPT_BLOCKS);
    }
  };
  const logsOf = (block: number): readonly Log[] => {
    prepare(block);
    const logs = kept.get(block);
    if (logs === undefined) throw new BenchmarkError(`Block ${block} was forgotten: block ${made} has been made`);
    return logs;
  };
  return { chain, pool: createGeneratedPool(chain, blocks, logsOf), prepare };
}

function createBlocks(): (block: number) => readonly Log[] {
  const random = createSeededRandom('growing NFTs');
  let draws = 0;
  const wallet = (): Address => {
    draws += 1;
    const existing = WALLETS_AT_FIRST + Math.floor(draws / NEW_WALLET_EVERY);
    const number = draws % NEW_WALLET_EVERY === 0 ? existing : existing - 1 - random.skewedIndex(existing, 3);
    return sha256(`wallet ${number}`).slice(0, 42) as Address;
  };
  const nfts = createBenchNfts(random.fork('nfts'), COLLECTIONS, wallet);
  return (block) => {
    const logs: Log[] = [];
    for (let transactionIndex = 0; logs.length < NFT_LOGS_PER_BLOCK; transactionIndex++) {
      const transactionHash = sha256(`transaction ${block} ${transactionIndex}`);
      const end = Math.min(logs.length + LOGS_PER_TRANSACTION, NFT_LOGS_PER_BLOCK);
      while (logs.length < end)
        for (const emitted of nfts.next(end - logs.length))
          logs.push({
            ...placeOf(block),
            ...emitted,
            topics: [...emitted.topics],
            transactionHash,
            transactionIndex,
            logIndex: logs.length,
          });
    }
    return logs;
  };
}
