import { type Address, parseAddress, parseChainId } from '@chainstead/core';
import type {
  BloomTrust,
  Chain,
  ProofPolicy,
  ReceiptsRootEncoding,
  TransactionKeeping,
  UncommittedRows,
} from './chain.ts';
import { etherPriceSources } from './ether-price.ts';
import { nativeTokenContracts } from './native-token-contracts.ts';
import { tokenFeeds } from './price-feeds.ts';
import { DEFAULT_PRICING_RULES } from './pricing-rules.ts';
import type { ViemChain } from './viem-chains.ts';

/** Blocks: two epochs of proof of stake. */
const REORG_DEPTH_FLOOR = 64;
const POLL_INTERVAL_MIN_MS = 500;
const POLL_INTERVAL_MAX_MS = 4000;

export interface ChainFamily {
  readonly receiptsRoot: ReceiptsRootEncoding;
  readonly bloom: BloomTrust;
  readonly headerHash: boolean;
  readonly uncommitted: UncommittedRows;
  readonly proofPolicy: ProofPolicy;
  readonly finalizedTag: boolean;
  /** Blocks. @default the larger of 64 and the confirmations */
  readonly reorgDepthMax?: number;
}

/** Id, native currency, multicall3 and public endpoints are viem's. */
interface ChainFacts {
  readonly key: string;
  readonly name: string;
  readonly viem: ViemChain;
  readonly family: ChainFamily;
  readonly blockTimeMs: number;
  readonly confirmations?: number;
  readonly apiNames?: readonly string[];
  readonly aliasIds?: readonly number[];
  /** Under the chain's key. @default true */
  readonly gateway?: boolean;
  readonly wrappedNative?: string;
  readonly bridgedEther?: string;
  readonly internalTransactions?: boolean;
  /** Marketplace trades and sale prices. @default false */
  readonly nftMarkets?: boolean;
  readonly hasUncles?: boolean;
  readonly erc20Exclusions?: readonly string[];
  readonly cryptoPunks?: string;
  readonly unindexedNfts?: readonly string[];
  readonly rangeBarriers?: readonly number[];
  readonly firstBlock?: number;
}

export function defineChain(facts: ChainFacts): Chain {
  const { viem, family } = facts;
  const confirmations = facts.confirmations ?? 100;
  const isEther = viem.nativeCurrency.symbol === 'ETH';
  return {
    id: parseChainId(viem.id),
    key: facts.key,
    name: facts.name,
    aliasIds: facts.aliasIds ?? [],
    apiNames: facts.apiNames ?? [],
    gatewaySlug: facts.gateway === false ? null : facts.key,
    confirmations,
    reorgDepthMax: family.reorgDepthMax ?? defaultReorgDepth(confirmations),
    finalizedTag: family.finalizedTag,
    blockTimeMs: facts.blockTimeMs,
    pollIntervalMs: defaultPollInterval(facts.blockTimeMs),
    native: { ...viem.nativeCurrency, isEther },
    bridgedEther: optionalAddress(facts.bridgedEther),
    wrappedNative: optionalAddress(facts.wrappedNative),
    multicall3:
      viem.multicall3 === null ? null : { ...viem.multicall3, address: parseAddress(viem.multicall3.address) },
    rpcUrls: viem.rpcUrls,
    receiptsRoot: family.receiptsRoot,
    bloom: family.bloom,
    headerHash: family.headerHash,
    uncommitted: family.uncommitted,
    proofPolicy: family.proofPolicy,
    hasUncles: facts.hasUncles ?? false,
    erc20Exclusions: [...(facts.erc20Exclusions ?? []).map(parseAddress), ...nativeTokenContracts(viem.id)],
    rangeBarriers: facts.rangeBarriers ?? [],
    firstBlock: facts.firstBlock ?? 0,
    internalTransactions: facts.internalTransactions ?? false,
    cryptoPunks: optionalAddress(facts.cryptoPunks),
    unindexedNfts: (facts.unindexedNfts ?? []).map(parseAddress),
    marketplaces: [],
    exchanges: [],
    etherPrice: etherPriceSources(viem.id),
    tokenFeeds: tokenFeeds(viem.id),
    dollarTokens: [],
    pricing: DEFAULT_PRICING_RULES,
    trustedHooks: [],
    transactions: NO_TRANSACTIONS,
    logs: 'off',
    internalTransfers: 'off',
    swaps: 'off',
    nftTrades: facts.nftMarkets ?? false,
    nftPrices: facts.nftMarkets ?? false,
  };
}

export const NO_TRANSACTIONS: TransactionKeeping = { mode: 'off', input: 'full', verifiesSenders: true };

export function defaultReorgDepth(confirmations: number): number {
  return Math.max(REORG_DEPTH_FLOOR, confirmations);
}

/** Half a block: the head is late by that at most, and public endpoints bear it. */
export function defaultPollInterval(blockTimeMs: number): number {
  return Math.min(POLL_INTERVAL_MAX_MS, Math.max(POLL_INTERVAL_MIN_MS, Math.round(blockTimeMs / 2)));
}

function optionalAddress(text: string | undefined): Address | null {
  return text === undefined ? null : parseAddress(text);
}
