import type { Address, ChainId } from '@chainstead/core';
import type { EtherPriceSources } from './ether-price.ts';
import type { TokenFeed } from './price-feeds.ts';
import type { PricingRules } from './pricing-rules.ts';

export type ReceiptsRootEncoding =
  /** Ethereum's trie of legacy and EIP-2718 receipts; OP deposit receipts and Polygon's state-sync receipt included. */
  | 'ethereum'
  /** As `ethereum`, after dropping HyperCore system receipts (cumulativeGasUsed 0, gasPrice 0). */
  | 'hyperliquid'
  /** The header commits to nothing that can be recomputed. */
  | 'none';

/** Whether the block hash commits to `logsBloom`. Receipts that Polygon and HyperEVM nodes add are outside it in any case. */
export type BloomTrust = 'committed' | 'untrusted';

export type ProofPolicy = 'strict' | 'record';

export interface NativeCurrency {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly isEther: boolean;
}

/** An exchange that a setting adds to a chain. The package `markets` validates it. */
export interface CustomExchange {
  /** Name of an exchange family, for example `v2`. */
  readonly family: string;
  /** Factory; vault or pool manager of families with one. */
  readonly factory: string;
  /** `exchangeName` of responses. @default the family's name */
  readonly name?: string | undefined;
  /** Hash of the init code of its pools, by which their addresses are recomputed. @default they are not */
  readonly initCodeHash?: string | undefined;
}

export interface MarketplaceDeployment {
  readonly protocol: string;
  readonly address: Address;
}

export interface TransactionKeeping {
  /** `wallets`: those of requested wallets; `all`: those of every block; `off`: none. */
  readonly mode: 'wallets' | 'all' | 'off';
  readonly input: 'full' | 'selector';
  /** Whether senders are recovered from signatures before rows are written. */
  readonly verifiesSenders: boolean;
}

/** Logs to store: all of every block, or only those of requested contracts. The operator's choice. */
export type LogKeeping = 'all' | 'off';

export interface Chain {
  readonly id: ChainId;
  /** The name used in `CHAINS` and, upper-cased with `_`, in environment keys: `eth`, `base-sepolia`. */
  readonly key: string;
  readonly name: string;
  /** Other ids under which an upstream may answer or a client may ask (Ronin Saigon's 2021). */
  readonly aliasIds: readonly number[];
  /** Names that the API's `chain` parameter accepts in addition to key, hexadecimal and decimal ID. Lower case. */
  readonly apiNames: readonly string[];
  /** Path segment of the JSON-RPC gateway; null where the gateway does not offer the chain. */
  readonly gatewaySlug: string | null;
  /** Blocks until an unconfirmed webhook is confirmed. */
  readonly confirmations: number;
  /** The deepest reorg that is rolled back automatically, in blocks. A deeper one stops the chain. */
  readonly reorgDepthMax: number;
  /** Whether the `finalized` tag means something on this chain's nodes. */
  readonly finalizedTag: boolean;
  readonly blockTimeMs: number;
  readonly pollIntervalMs: number;
  readonly native: NativeCurrency;
  /** Canonical (bridged) ETH token where the native currency is something else. */
  readonly bridgedEther: Address | null;
  readonly wrappedNative: Address | null;
  readonly multicall3: { readonly address: Address; readonly blockCreated: number } | null;
  /** Public JSON-RPC endpoints, used when none is configured. */
  readonly rpcUrls: readonly string[];
  readonly receiptsRoot: ReceiptsRootEncoding;
  readonly bloom: BloomTrust;
  /** Whether the block hash can be recomputed from the header's JSON with the Ethereum field list. */
  readonly headerHash: boolean;
  readonly proofPolicy: ProofPolicy;
  readonly hasUncles: boolean;
  /** Contracts whose `Transfer` events are not ERC-20 transfers although they look it (CryptoPunks, zkSync's base token). */
  readonly erc20Exclusions: readonly Address[];
  /** A getLogs range may contain either side of such a block, never both (Ronin's migration). */
  readonly rangeBarriers: readonly number[];
  /** First block of the chain's own history (PulseChain forked Ethereum's). */
  readonly firstBlock: number;
  readonly internalTransactions: boolean;
  /** CryptoPunks' contract, which is no ERC-721 and trades itself. */
  readonly cryptoPunks: Address | null;
  /** NFT contracts whose `Transfer` has all arguments in the data (CryptoKitties). */
  readonly unindexedNfts: readonly Address[];
  /** Marketplaces deployed elsewhere than the known addresses: development chains, forks. By protocol name, `seaport-1.6`. */
  readonly marketplaces: readonly MarketplaceDeployment[];
  /** Decentralized exchanges in addition to the known ones of the chain's id. */
  readonly exchanges: readonly CustomExchange[];
  readonly etherPrice: EtherPriceSources;
  /** Price feeds of other tokens than ether. A token has at most one. */
  readonly tokenFeeds: readonly TokenFeed[];
  /** Tokens worth a dollar in addition to the known ones of the chain's id. */
  readonly dollarTokens: readonly Address[];
  /** Figures of the pricing method. The operator's choice. */
  readonly pricing: PricingRules;
  /** Hooks that may change amounts, whose pools count nevertheless. The operator's choice. */
  readonly trustedHooks: readonly Address[];
  readonly transactions: TransactionKeeping;
  readonly logs: LogKeeping;
  /** Whether coins that move inside transactions are kept of every block, from traces. The operator's choice. */
  readonly internalTransfers: 'all' | 'off';
  /** Whether swaps and liquidity changes of all pools are indexed. The operator's choice. */
  readonly swaps: 'all' | 'off';
  readonly nftTrades: boolean;
  readonly nftPrices: boolean;
}
