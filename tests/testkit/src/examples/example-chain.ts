import type { Chain } from '@chainstead/chains';
import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import { parseChainId } from '@chainstead/core';

/** A chain without quirks, for tests of what reads only a few of a chain's facts. */
export function exampleChain(facts: Partial<Omit<Chain, 'id'>> & { readonly id?: number } = {}): Chain {
  const { id = 1, ...others } = facts;
  return {
    key: 'eth',
    name: 'Ethereum',
    aliasIds: [],
    apiNames: ['eth'],
    gatewaySlug: null,
    confirmations: 12,
    reorgDepthMax: 64,
    finalizedTag: true,
    blockTimeMs: 12_000,
    pollIntervalMs: 4_000,
    native: { name: 'Ether', symbol: 'ETH', decimals: 18, isEther: true },
    bridgedEther: null,
    wrappedNative: null,
    multicall3: null,
    rpcUrls: [],
    receiptsRoot: 'ethereum',
    bloom: 'committed',
    headerHash: true,
    uncommitted: 'none',
    proofPolicy: 'strict',
    hasUncles: true,
    erc20Exclusions: [],
    rangeBarriers: [],
    firstBlock: 0,
    internalTransactions: true,
    cryptoPunks: null,
    unindexedNfts: [],
    marketplaces: [],
    exchanges: [],
    etherPrice: { feed: null, pools: [] },
    tokenFeeds: [],
    dollarTokens: [],
    pricing: DEFAULT_PRICING_RULES,
    trustedHooks: [],
    transactions: { mode: 'off', input: 'full', verifiesSenders: true },
    logs: 'off',
    internalTransfers: 'off',
    swaps: 'off',
    nftTrades: true,
    nftPrices: true,
    ...others,
    id: parseChainId(id),
  };
}
