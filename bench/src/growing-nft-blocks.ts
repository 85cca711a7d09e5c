import type { Address, Log } from '@chainstead/core';
import { createBenchNfts, createSeededRandom } from '@chainstead/testkit';
import { placeOf, sha256 } from './generated-pool.ts';

export const NFT_LOGS_PER_BLOCK = 100;
const LOGS_PER_TRANSACTION = 2;
const COLLECTIONS = 2_000;
const WALLETS_AT_FIRST = 1_000;
/** One draw of a wallet in so many is of a new one. */
const NEW_WALLET_EVERY = 5;

/** Makes the blocks of a chain of mints, transfers and sales of NFTs, one after the other. It remembers who owns each token. */
export function createNftBlocks(): (block: number) => readonly Log[] {
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
