import type { Chain, EtherPool } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync';
import { type PoolPriceRow, poolPrices as table } from './schema.ts';

/** keccak256 of the `Swap` of Uniswap v3 and PancakeSwap v3. The price is the data's third word. */
export const SWAP_EVENTS: Readonly<Record<EtherPool['protocol'], { readonly topic: Hash; readonly words: number }>> = {
  'uniswap-v3': { topic: '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67' as Hash, words: 5 },
  'pancakeswap-v3': { topic: '0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83' as Hash, words: 7 },
};

/** Only on chains without a feed of ether: swaps are many. */
export const poolPrices: Dataset<PoolPriceRow> = {
  name: 'pool-prices',
  topics: (chain) => [...new Set(pricingPools(chain).map(({ protocol }) => SWAP_EVENTS[protocol].topic))],
  table: defineTable(table),
  decode,
};

/** In the order of trust. Empty where a feed prices ether. */
export function pricingPools(chain: Chain): readonly EtherPool[] {
  return chain.etherPrice.feed === null ? chain.etherPrice.pools : [];
}

function decode(logs: readonly Log[], { chain, timestampOf }: DecodeContext): PoolPriceRow[] {
  const pools = new Map(pricingPools(chain).map((pool) => [pool.address, pool]));
  // In chain order: the last swap of a block remains.
  const last = new Map<string, PoolPriceRow>();
  for (const log of logs) {
    const pool = pools.get(log.address);
    const price = pool === undefined ? null : swapPrice(log, pool);
    if (price === null) continue;
    const { blockNumber, transactionIndex, logIndex } = log;
    last.set(`${log.address}:${blockNumber}`, {
      pool: log.address,
      chainId: chain.id,
      blockNumber,
      transactionIndex,
      logIndex,
      sqrtPriceX96: price.toString(),
      blockTimestamp: new Date(timestampOf(blockNumber) * 1000).toISOString(),
    });
  }
  return [...last.values()];
}

function swapPrice(log: Log, { protocol }: EtherPool): bigint | null {
  const { topic, words } = SWAP_EVENTS[protocol];
  if (log.topics[0] !== topic || log.topics.length !== 3 || log.data.length !== 2 + words * WORD_DIGITS) return null;
  const start = 2 + PRICE_WORD * WORD_DIGITS;
  const price = BigInt(`0x${log.data.slice(start, start + WORD_DIGITS)}`);
  return price > 0n ? price : null;
}

const WORD_DIGITS = 64;
const PRICE_WORD = 2;
