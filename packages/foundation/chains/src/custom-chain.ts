import { parseChainId } from '@chainstead/core';
import type { Chain } from './chain.ts';
import { defaultPollInterval, defaultReorgDepth, NO_TRANSACTIONS } from './define-chain.ts';
import { NO_ETHER_PRICE } from './ether-price.ts';
import { UNVERIFIED } from './families.ts';
import { nativeTokenContracts } from './native-token-contracts.ts';
import { mergeTokenFeeds, type PriceFeed, type TokenFeed } from './price-feeds.ts';
import { DEFAULT_PRICING_RULES } from './pricing-rules.ts';

const DEFAULT_BLOCK_TIME_MS = 2000;
const DEFAULT_CONFIRMATIONS = 12;

type ReplacedFact =
  | ('name' | 'confirmations' | 'blockTimeMs' | 'finalizedTag' | 'rpcUrls' | 'receiptsRoot' | 'headerHash')
  | ('proofPolicy' | 'marketplaces' | 'exchanges' | 'dollarTokens' | 'pricing' | 'trustedHooks')
  | ('transactions' | 'logs' | 'internalTransfers' | 'swaps');

/** A new chain, or changes to a known one. Absent fields keep their defaults. */
export interface CustomChain extends Readonly<{ [Fact in ReplacedFact]?: Chain[Fact] | undefined }> {
  /** Lower case. A known chain's key changes that chain. */
  readonly key: string;
  readonly id: number;
  /** @default half the block time, from 500 to 4000 */
  readonly pollIntervalMs?: number | undefined;
  /** @default `ETH`, which makes the native currency ether */
  readonly nativeSymbol?: string | undefined;
  /** Blocks. @default the larger of 64 and the confirmations */
  readonly reorgDepthMax?: number | undefined;
  readonly etherFeed?: PriceFeed | undefined;
  /** Each replaces known feeds of its tokens. */
  readonly tokenFeeds?: readonly TokenFeed[] | undefined;
  /** @default the known chain's, or none */
  readonly wrappedNative?: Exclude<Chain['wrappedNative'], null> | undefined;
}

/** Under another id, a known chain keeps only product facts. @throws InvalidPrimitiveError */
export function customChain(custom: CustomChain, known: Chain | null): Chain {
  const id = parseChainId(custom.id);
  const base =
    known?.id === id
      ? known
      : { ...unknownChain(custom.key), ...productFacts(known), erc20Exclusions: nativeTokenContracts(id) };
  const { key: _key, nativeSymbol, etherFeed, tokenFeeds, ...facts } = custom;
  const replaced: Partial<Chain> = Object.fromEntries(
    Object.entries(facts).filter(([, fact]) => fact !== undefined),
  );
  return {
    ...base,
    ...replaced,
    id,
    pollIntervalMs:
      custom.pollIntervalMs ??
      (custom.blockTimeMs === undefined ? base.pollIntervalMs : defaultPollInterval(custom.blockTimeMs)),
    reorgDepthMax: custom.reorgDepthMax ?? Math.max(base.reorgDepthMax, custom.confirmations ?? 0),
    native: nativeSymbol === undefined ? base.native : nativeCurrency(nativeSymbol),
    etherPrice: etherFeed === undefined ? base.etherPrice : { feed: etherFeed, pools: [] },
    tokenFeeds: mergeTokenFeeds(base.tokenFeeds, tokenFeeds ?? []),
  };
}

function unknownChain(key: string): Omit<Chain, 'id'> {
  return {
    key,
    name: key,
    aliasIds: [],
    apiNames: [],
    gatewaySlug: key,
    confirmations: DEFAULT_CONFIRMATIONS,
    ...UNVERIFIED,
    reorgDepthMax: defaultReorgDepth(DEFAULT_CONFIRMATIONS),
    blockTimeMs: DEFAULT_BLOCK_TIME_MS,
    pollIntervalMs: defaultPollInterval(DEFAULT_BLOCK_TIME_MS),
    native: nativeCurrency('ETH'),
    bridgedEther: null,
    wrappedNative: null,
    multicall3: null,
    rpcUrls: [],
    hasUncles: false,
    erc20Exclusions: [],
    rangeBarriers: [],
    firstBlock: 0,
    internalTransactions: true,
    cryptoPunks: null,
    unindexedNfts: [],
    marketplaces: [],
    exchanges: [],
    etherPrice: NO_ETHER_PRICE,
    tokenFeeds: [],
    dollarTokens: [],
    pricing: DEFAULT_PRICING_RULES,
    trustedHooks: [],
    transactions: NO_TRANSACTIONS,
    logs: 'off',
    internalTransfers: 'off',
    swaps: 'off',
    nftTrades: true,
    nftPrices: true,
  };
}

function productFacts(known: Chain | null): Partial<Chain> {
  if (known === null) return {};
  const { name, apiNames, gatewaySlug, confirmations, blockTimeMs, pollIntervalMs, native } = known;
  return { name, apiNames, gatewaySlug, confirmations, blockTimeMs, pollIntervalMs, native };
}

function nativeCurrency(symbol: string): Chain['native'] {
  const isEther = symbol === 'ETH';
  return { name: isEther ? 'Ether' : symbol, symbol, decimals: 18, isEther };
}
