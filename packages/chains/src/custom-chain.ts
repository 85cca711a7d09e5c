import { type Address, parseChainId } from '@chainstead/core';
import type {
  Chain,
  CustomExchange,
  LogKeeping,
  MarketplaceDeployment,
  ProofPolicy,
  ReceiptsRootEncoding,
  TransactionKeeping,
} from './chain.ts';
import { defaultPollInterval, defaultReorgDepth, NO_TRANSACTIONS } from './define-chain.ts';
import { NO_ETHER_PRICE } from './ether-price.ts';
import { UNVERIFIED } from './families.ts';
import { mergeTokenFeeds, type PriceFeed, type TokenFeed } from './price-feeds.ts';
import { DEFAULT_PRICING_RULES, type PricingRules } from './pricing-rules.ts';

const DEFAULT_BLOCK_TIME_MS = 2000;
const DEFAULT_CONFIRMATIONS = 12;

/** A chain that configuration adds, or what it changes of a known one. Absent fields keep their defaults. */
export interface CustomChain {
  /** Lower case, as in `CHAINS`. The key of a known chain changes that chain. */
  readonly key: string;
  readonly id: number;
  readonly name?: string | undefined;
  /** Default 12. */
  readonly confirmations?: number | undefined;
  /** Default 2000. */
  readonly blockTimeMs?: number | undefined;
  /** Default: half the block time, at least 500 and at most 4000. */
  readonly pollIntervalMs?: number | undefined;
  /** Default `ETH`, which also says that the native currency is ether. */
  readonly nativeSymbol?: string | undefined;
  /** Default: the larger of 64 and the confirmations. Blocks. */
  readonly reorgDepthMax?: number | undefined;
  readonly finalizedTag?: boolean | undefined;
  readonly rpcUrls?: readonly string[] | undefined;
  readonly receiptsRoot?: ReceiptsRootEncoding | undefined;
  /** Default false: an unchecked chain may hash its headers differently. */
  readonly headerHash?: boolean | undefined;
  readonly proofPolicy?: ProofPolicy | undefined;
  /** Added to the known ones. */
  readonly marketplaces?: readonly MarketplaceDeployment[] | undefined;
  /** Added to the known ones. */
  readonly exchanges?: readonly CustomExchange[] | undefined;
  readonly etherFeed?: PriceFeed | undefined;
  /** Added to the known ones. Each replaces the known feeds of its tokens. */
  readonly tokenFeeds?: readonly TokenFeed[] | undefined;
  /** Added to the known ones. */
  readonly dollarTokens?: readonly Address[] | undefined;
  readonly pricing?: PricingRules | undefined;
  /** Default: none are trusted. */
  readonly trustedHooks?: readonly Address[] | undefined;
  /** The contract that wraps the native currency. Default: the known chain's, or none. */
  readonly wrappedNative?: Address | undefined;
  /** Default: none are kept. */
  readonly transactions?: TransactionKeeping | undefined;
  /** Default: only those of requested contracts. */
  readonly logs?: LogKeeping | undefined;
  /** Default: none are kept. */
  readonly internalTransfers?: 'all' | 'off' | undefined;
  /** Default: none are kept. */
  readonly swaps?: 'all' | 'off' | undefined;
}

/**
 * Returns the chain of a configuration. A known chain of the same key and ID keeps its facts. Under another ID, only its product
 * facts stay, since endpoints, contracts and proofs belong to the ID.
 * @throws InvalidPrimitiveError when the id is not a positive safe integer.
 */
export function customChain(custom: CustomChain, known: Chain | null): Chain {
  const id = parseChainId(custom.id);
  const base = known?.id === id ? known : { ...unknownChain(custom.key), ...productFacts(known) };
  const confirmations = custom.confirmations ?? base.confirmations;
  const blockTimeMs = custom.blockTimeMs ?? base.blockTimeMs;
  return {
    ...base,
    id,
    name: custom.name ?? base.name,
    confirmations,
    blockTimeMs,
    pollIntervalMs:
      custom.pollIntervalMs ??
      (custom.blockTimeMs === undefined ? base.pollIntervalMs : defaultPollInterval(blockTimeMs)),
    reorgDepthMax: custom.reorgDepthMax ?? Math.max(base.reorgDepthMax, custom.confirmations ?? 0),
    finalizedTag: custom.finalizedTag ?? base.finalizedTag,
    native: custom.nativeSymbol === undefined ? base.native : nativeCurrency(custom.nativeSymbol),
    wrappedNative: custom.wrappedNative ?? base.wrappedNative,
    rpcUrls: custom.rpcUrls ?? base.rpcUrls,
    receiptsRoot: custom.receiptsRoot ?? base.receiptsRoot,
    headerHash: custom.headerHash ?? base.headerHash,
    proofPolicy: custom.proofPolicy ?? base.proofPolicy,
    marketplaces: custom.marketplaces ?? base.marketplaces,
    exchanges: custom.exchanges ?? base.exchanges,
    transactions: custom.transactions ?? base.transactions,
    logs: custom.logs ?? base.logs,
    internalTransfers: custom.internalTransfers ?? base.internalTransfers,
    swaps: custom.swaps ?? base.swaps,
    etherPrice: custom.etherFeed === undefined ? base.etherPrice : { feed: custom.etherFeed, pools: [] },
    tokenFeeds: mergeTokenFeeds(base.tokenFeeds, custom.tokenFeeds ?? []),
    dollarTokens: custom.dollarTokens ?? base.dollarTokens,
    pricing: custom.pricing ?? base.pricing,
    trustedHooks: custom.trustedHooks ?? base.trustedHooks,
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
    reorgDepthMax: defaultReorgDepth(DEFAULT_CONFIRMATIONS),
    finalizedTag: UNVERIFIED.finalizedTag,
    blockTimeMs: DEFAULT_BLOCK_TIME_MS,
    pollIntervalMs: defaultPollInterval(DEFAULT_BLOCK_TIME_MS),
    native: nativeCurrency('ETH'),
    bridgedEther: null,
    wrappedNative: null,
    multicall3: null,
    rpcUrls: [],
    receiptsRoot: UNVERIFIED.receiptsRoot,
    bloom: UNVERIFIED.bloom,
    headerHash: UNVERIFIED.headerHash,
    proofPolicy: UNVERIFIED.proofPolicy,
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
