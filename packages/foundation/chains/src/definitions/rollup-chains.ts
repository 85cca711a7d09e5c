import type { Chain } from '../chain.ts';
import { defineChain } from '../define-chain.ts';
import { ETHEREUM, NITRO, UNCOMMITTED_ROLLUP } from '../families.ts';
import {
  arbitrum,
  arbitrumSepolia,
  linea,
  lineaSepolia,
  polygonZkEvm,
  polygonZkEvmCardona,
  zkSync,
  zkSyncSepoliaTestnet,
} from '../viem-chains.ts';

/** Pseudo-contract: a `Transfer` for every move of ether. */
const ZKSYNC_BASE_TOKEN = '0x000000000000000000000000000000000000800a';

export const ROLLUP_CHAINS: readonly Chain[] = [
  defineChain({
    key: 'arbitrum',
    name: 'Arbitrum',
    viem: arbitrum,
    family: NITRO,
    blockTimeMs: 250,
    confirmations: 18,
    wrappedNative: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
    internalTransactions: true,
    nftMarkets: true,
  }),
  defineChain({
    key: 'arbitrum-sepolia',
    name: 'Arbitrum Sepolia',
    viem: arbitrumSepolia,
    family: NITRO,
    blockTimeMs: 250,
    confirmations: 600,
    apiNames: ['arbitrum sepolia'],
    wrappedNative: '0x980b62da83eff3d4576c647993b0c1d7faf17c73',
    internalTransactions: true,
  }),
  defineChain({
    key: 'linea',
    name: 'Linea',
    viem: linea,
    family: ETHEREUM,
    blockTimeMs: 2000,
    wrappedNative: '0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f',
    internalTransactions: true,
  }),
  defineChain({
    key: 'linea-sepolia',
    name: 'Linea Sepolia',
    viem: lineaSepolia,
    family: ETHEREUM,
    blockTimeMs: 2000,
    apiNames: ['linea sepolia'],
    wrappedNative: '0x06565ed324ee9fb4db0ff80b7edbe4cb007555a3',
    internalTransactions: true,
  }),
  defineChain({
    key: 'zksync',
    name: 'zkSync',
    viem: zkSync,
    family: UNCOMMITTED_ROLLUP,
    blockTimeMs: 1000,
    wrappedNative: '0x5aea5775959fbc2557cc8789bc1bf90a239d9a91',
    erc20Exclusions: [ZKSYNC_BASE_TOKEN],
  }),
  defineChain({
    key: 'zksync-sepolia',
    name: 'zkSync Sepolia',
    viem: zkSyncSepoliaTestnet,
    family: UNCOMMITTED_ROLLUP,
    blockTimeMs: 1000,
    wrappedNative: '0x2d6db36b3117802e996f13073a08a685d3fef7ed',
    erc20Exclusions: [ZKSYNC_BASE_TOKEN],
  }),
  defineChain({
    key: 'polygon-zkevm',
    name: 'Polygon zkEVM',
    viem: polygonZkEvm,
    family: UNCOMMITTED_ROLLUP,
    blockTimeMs: 2700,
    wrappedNative: '0x4f9a0e7fd2bf6067db6994cf12e4495df938e6e9',
  }),
  defineChain({
    key: 'polygon-zkevm-cardona',
    name: 'Polygon zkEVM Cardona',
    viem: polygonZkEvmCardona,
    family: UNCOMMITTED_ROLLUP,
    blockTimeMs: 3000,
  }),
];
