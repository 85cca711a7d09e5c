import type { Chain, EtherPool } from '@chainstead/chains';
import { defineEvent } from '@chainstead/events/decoding';
import { logDataset } from '@chainstead/sync/datasets';
import { poolPrices as table } from './schema.ts';

const SWAP = 'address indexed, address indexed, int256, int256, uint160 sqrtPriceX96, uint128, int24';

export const SWAP_EVENTS = {
  'uniswap-v3': defineEvent(`event Swap(${SWAP})`),
  'pancakeswap-v3': defineEvent(`event Swap(${SWAP}, uint128, uint128)`),
};

/** Only on chains without a feed of ether: swaps are many. */
export const poolPrices = logDataset({
  name: 'pool-prices',
  topics: (chain) => [...new Set(pricingPools(chain).map(({ protocol }) => SWAP_EVENTS[protocol].topic))],
  table,
  lastOfBlock: 'pool',
  rows(log, { chain, timestampOf }) {
    const pool = pricingPools(chain).find(({ address }) => address === log.address);
    const price = pool === undefined ? null : SWAP_EVENTS[pool.protocol].readStored(log);
    if (price === null || price.sqrtPriceX96 === '0') return [];
    const blockTimestamp = new Date(timestampOf(log.blockNumber) * 1_000).toISOString();
    return { pool: log.address, ...price, blockTimestamp };
  },
});

/** In the order of trust. Empty where a feed prices ether. */
export function pricingPools(chain: Chain): readonly EtherPool[] {
  return chain.etherPrice.feed === null ? chain.etherPrice.pools : [];
}
