import type { Address, ChainId } from '@chainstead/core';
import type { EtherPriceSources } from './ether-price.ts';
import type { TokenFeed } from './price-feeds.ts';
import type { PricingRules } from './pricing-rules.ts';

export type ReceiptsRootEncoding =
  /** Legacy and EIP-2718 receipts, OP deposits, Polygon's state sync. */
  | 'ethereum'
  /** As `ethereum`, without system receipts (cumulativeGasUsed 0, gasPrice 0). */
  | 'hyperliquid'
  /** The header commits to nothing that can be recomputed. */
  | 'none';

/** Whether the hash commits to `logsBloom`, which never has receipts that nodes add. */
export type BloomTrust = 'committed' | 'untrusted';

/** Rows of blocks that no root contains: fees for a chain below, or logs of state syncs (Bor before Madhugiri). */
export type UncommittedRows = 'none' | 'l1Fees' | 'stateSync';

export type ProofPolicy = 'strict' | 'record';

export interface NativeCurrency {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly isEther: boolean;
}

export interface CustomExchange {
  readonly family: string;
  /** Or the vault or pool manager. */
  readonly factory: string;
  /** `exchangeName` of responses. @default the family's name */
  readonly name?: string | undefined;
  /** Recomputes addresses of pools. @default they are not */
  readonly initCodeHash?: string | undefined;
}

export interface MarketplaceDeployment {
  readonly protocol: string;
  readonly address: Address;
}

export interface TransactionKeeping {
  readonly mode: 'wallets' | 'all' | 'off';
  readonly input: 'full' | 'selector';
  readonly verifiesSenders: boolean;
}

export type LogKeeping = 'all' | 'off';

export interface Chain {
  readonly id: ChainId;
  /** In `CHAINS` and, upper-cased with `_`, in environment keys: `base-sepolia`. */
  readonly key: string;
  readonly name: string;
  /** Upstreams may answer, or clients ask, with these (Ronin Saigon's 2021). */
  readonly aliasIds: readonly number[];
  /** Lower-case names that the API accepts in addition to key and id. */
  readonly apiNames: readonly string[];
  /** JSON-RPC gateway's path segment; null: not offered. */
  readonly gatewaySlug: string | null;
  /** Blocks. */
  readonly confirmations: number;
  /** Blocks. A deeper reorg stops the chain. */
  readonly reorgDepthMax: number;
  readonly finalizedTag: boolean;
  readonly blockTimeMs: number;
  readonly pollIntervalMs: number;
  readonly native: NativeCurrency;
  /** Canonical bridged token where the native currency is not ether. */
  readonly bridgedEther: Address | null;
  readonly wrappedNative: Address | null;
  readonly multicall3: { readonly address: Address; readonly blockCreated: number } | null;
  readonly rpcUrls: readonly string[];
  readonly receiptsRoot: ReceiptsRootEncoding;
  readonly bloom: BloomTrust;
  /** The block hash can be recomputed from JSON with Ethereum's field list. */
  readonly headerHash: boolean;
  readonly uncommitted: UncommittedRows;
  readonly proofPolicy: ProofPolicy;
  readonly hasUncles: boolean;
  /** Their `Transfer` only looks like ERC-20's: CryptoPunks, and contracts that stand for the native token. */
  readonly erc20Exclusions: readonly Address[];
  /** A getLogs range has blocks of one side only (Ronin's migration). */
  readonly rangeBarriers: readonly number[];
  /** PulseChain forked Ethereum's history. */
  readonly firstBlock: number;
  readonly internalTransactions: boolean;
  readonly cryptoPunks: Address | null;
  /** Their `Transfer` has all arguments in the data (CryptoKitties). */
  readonly unindexedNfts: readonly Address[];
  /** In addition to known addresses. By protocol name, `seaport-1.6`. */
  readonly marketplaces: readonly MarketplaceDeployment[];
  readonly exchanges: readonly CustomExchange[];
  readonly etherPrice: EtherPriceSources;
  readonly tokenFeeds: readonly TokenFeed[];
  readonly dollarTokens: readonly Address[];
  readonly pricing: PricingRules;
  /** Their pools count although they may change amounts. */
  readonly trustedHooks: readonly Address[];
  readonly transactions: TransactionKeeping;
  readonly logs: LogKeeping;
  /** Coins moved inside transactions of every block, from traces. */
  readonly internalTransfers: 'all' | 'off';
  readonly swaps: 'all' | 'off';
  readonly nftTrades: boolean;
  readonly nftPrices: boolean;
}
