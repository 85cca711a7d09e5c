import { type Address, parseAddress } from '@chainstead/core';

/** Chainlink's ETH/USD feed: a proxy, and the aggregators that answered behind it as far as they are known. */
export interface EtherFeed {
  readonly proxy: Address;
  /** Of the answers. */
  readonly decimals: number;
  /** A seed, not the truth: aggregators rotate, and a worker asks the proxy for all of them. */
  readonly aggregators: readonly Address[];
}

/** A pool of ether and a dollar token whose swaps tell the price where no feed does. */
export interface EtherPool {
  readonly address: Address;
  readonly protocol: 'uniswap-v3' | 'pancakeswap-v3';
  readonly etherIs: 'token0' | 'token1';
  /** Decimals of the dollar token; ether has 18. */
  readonly dollarDecimals: number;
}

export interface EtherPriceSources {
  readonly feed: EtherFeed | null;
  /** In the order of trust. Read only on chains without a feed: swaps are many. */
  readonly pools: readonly EtherPool[];
}

export const NO_ETHER_PRICE: EtherPriceSources = { feed: null, pools: [] };

/** Sources by chain id. Addresses: Chainlink's reference data, Uniswap's and PancakeSwap's factories. */
export function etherPriceSources(chainId: number): EtherPriceSources {
  return SOURCES.get(chainId) ?? NO_ETHER_PRICE;
}

const feed = (proxy: string, ...aggregators: string[]): EtherFeed => ({
  proxy: parseAddress(proxy),
  decimals: 8,
  aggregators: aggregators.map(parseAddress),
});

const SOURCES: ReadonlyMap<number, EtherPriceSources> = new Map([
  [
    1,
    {
      feed: feed(
        '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419',
        '0x7d4E742018fb52E48b08BE73d041C18B21de6Fb5',
        '0xE62B71cf983019BFf55bC83B48601ce8419650CC',
      ),
      pools: [],
    },
  ],
]);
