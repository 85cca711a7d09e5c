/** docs/api/streams-matching.md#webhook-body: decimal quantities, lower-case hashes, key order. */
import type { Address, Hash, Hex } from '@chainstead/core';

export interface TriggerResult {
  /** Name in the ABI or `output1`, …; `error` if the call failed. */
  readonly name: string;
  readonly value: unknown;
}

interface Triggered {
  /** Watched addresses; null if topic0 alone matched. */
  readonly triggered_by: readonly Address[] | null;
  readonly triggers?: readonly TriggerResult[];
}

export interface WebhookLog extends Triggered {
  readonly logIndex: string;
  readonly transactionHash: Hash;
  readonly address: Address;
  readonly data: Hex;
  readonly topic0: Hash | null;
  readonly topic1: Hash | null;
  readonly topic2: Hash | null;
  readonly topic3: Hash | null;
}

export interface WebhookTransaction extends Triggered {
  readonly hash: Hash;
  readonly gas: string | null;
  readonly gasPrice: string | null;
  readonly nonce: string | null;
  readonly input: string | null;
  readonly transactionIndex: string;
  readonly fromAddress: Address;
  readonly toAddress: Address | null;
  readonly value: string | null;
  readonly type: string | null;
  readonly v: string | null;
  readonly r: string | null;
  readonly s: string | null;
  readonly receiptCumulativeGasUsed: string | null;
  readonly receiptGasUsed: string | null;
  readonly receiptContractAddress: string | null;
  readonly receiptRoot: string | null;
  readonly receiptStatus: string | null;
  /** In native currency, exact. */
  readonly transactionFee: string | null;
}

export interface WebhookInternalTransaction {
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: string;
  readonly gas: string | null;
  readonly transactionHash: Hash;
  readonly triggered_by: readonly Address[] | null;
}

interface EventPlace {
  readonly transactionHash: Hash;
  readonly logIndex: string;
  readonly contract: Address;
}

interface Erc20Facts {
  readonly value: string;
  /** Empty if the contract returns nothing usable. */
  readonly tokenName: string;
  readonly tokenSymbol: string;
  readonly tokenDecimals: string;
  /** Exact; absent if the decimals are unknown. */
  readonly valueWithDecimals?: string;
  readonly logo: string | null;
  readonly thumbnail: string | null;
  readonly possibleSpam: boolean;
  readonly verifiedCollection: boolean;
}

export interface WebhookErc20Transfer extends EventPlace, Erc20Facts, Triggered {
  readonly from: Address;
  readonly to: Address;
}

export interface WebhookErc20Approval extends EventPlace, Erc20Facts, Triggered {
  readonly owner: Address;
  readonly spender: Address;
}

export type TokenContractType = 'ERC721' | 'ERC1155';

interface NftFacts {
  readonly tokenName: string;
  readonly tokenSymbol: string;
  readonly tokenContractType: TokenContractType;
}

export interface WebhookNftTransfer extends EventPlace, NftFacts, Triggered {
  readonly operator: Address | null;
  readonly from: Address;
  readonly to: Address;
  readonly tokenId: string;
  readonly amount: string;
  readonly possibleSpam: boolean;
}

export interface WebhookNftTokenApproval extends EventPlace, NftFacts {
  readonly account: Address;
  readonly operator: Address;
  readonly approvedAll: boolean;
  /** Null for an approval of all tokens. */
  readonly tokenId: string | null;
  readonly possibleSpam: boolean;
}

export interface WebhookErc721Approval extends EventPlace, NftFacts {
  readonly owner: Address;
  readonly approved: Address;
  readonly tokenId: string;
}

export interface WebhookApprovalForAll extends EventPlace, NftFacts {
  readonly account: Address;
  readonly operator: Address;
  readonly approved: boolean;
}

export interface WebhookContents {
  readonly logs: readonly WebhookLog[];
  readonly txs: readonly WebhookTransaction[];
  readonly txsInternal: readonly WebhookInternalTransaction[];
  readonly erc20Transfers: readonly WebhookErc20Transfer[];
  readonly erc20Approvals: readonly WebhookErc20Approval[];
  readonly nftTokenApprovals: readonly WebhookNftTokenApproval[];
  readonly nftApprovals: {
    readonly ERC721: readonly WebhookErc721Approval[];
    readonly ERC1155: readonly WebhookApprovalForAll[];
  };
  readonly nftTransfers: readonly WebhookNftTransfer[];
}
