import type { Chain } from '@chainstead/chains';

/** Datasets of the public portal, by chain ID (June 2026). */
const DATASETS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum-mainnet'],
  [11_155_111, 'ethereum-sepolia'],
  [17_000, 'ethereum-holesky'],
  [137, 'polygon-mainnet'],
  [56, 'binance-mainnet'],
  [42_161, 'arbitrum-one'],
  [8_453, 'base-mainnet'],
  [10, 'optimism-mainnet'],
  [59_144, 'linea-mainnet'],
  [43_114, 'avalanche-mainnet'],
  [25, 'cronos-mainnet'],
  [100, 'gnosis-mainnet'],
  [1_284, 'moonbeam-mainnet'],
  [1_285, 'moonriver-mainnet'],
  [81_457, 'blast-l2-mainnet'],
  [324, 'zksync-mainnet'],
  [84_532, 'base-sepolia'],
  [11_155_420, 'optimism-sepolia'],
  [421_614, 'arbitrum-sepolia'],
  [80_002, 'polygon-amoy-testnet'],
  [97, 'binance-testnet'],
  [1_287, 'moonbase-testnet'],
  [168_587_773, 'blast-sepolia'],
  [300, 'zksync-sepolia'],
  [5_003, 'mantle-sepolia'],
  [2_442, 'polygon-zkevm-cardona-testnet'],
  [5_000, 'mantle-mainnet'],
  [204, 'opbnb-mainnet'],
  [1_101, 'polygon-zkevm-mainnet'],
  [999, 'hyperliquid-mainnet'],
  [143, 'monad-mainnet'],
]);

/** Adds the chain's dataset, if one is known and the URL names none. */
export function portalUrl(url: string, chain: Pick<Chain, 'id'>): string {
  const dataset = DATASETS.get(chain.id);
  return dataset === undefined || new URL(url).pathname.includes('/datasets/')
    ? url
    : `${url.replace(/\/+$/, '')}/datasets/${dataset}`;
}
