import type { Address } from '@chainstead/core';
import type { Evidence } from '@chainstead/transactions';

/** Coins that a transaction moved, by its own value or by a call inside. */
export interface CoinLeg {
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  /** Moved by a call inside. */
  readonly isInternal: boolean;
  /** Made for its receiver by a deposit from the chain below: whoever sent it gave nothing here. @default false */
  readonly isMinted?: boolean;
}

/** An ERC-20 transfer. */
export interface TokenLeg {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  readonly logIndex: number;
}

/** An NFT, or an amount of one, that moved. */
export interface NftLeg {
  readonly token: Address;
  /** Decimal digits. */
  readonly tokenId: string;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  /** Who moved it, where the event says so (ERC-1155). */
  readonly operator: Address | null;
  readonly logIndex: number;
}

/** A marketplace trade that the wallet was part of. */
export interface TradePart {
  readonly role: 'buyer' | 'seller';
  /** Whether an offer was accepted. */
  readonly isOffer: boolean;
}

/** A transaction as one wallet sees it: all that its category follows from. */
export interface WalletTransaction {
  readonly wallet: Address;
  readonly from: Address;
  /** Null where it creates a contract. */
  readonly to: Address | null;
  /** Null before Byzantium: not known to have failed. */
  readonly status: 0 | 1 | null;
  /** Name of the function that was called; null where nobody knows it. */
  readonly method: string | null;
  /** First four bytes of its input; null where it has fewer. */
  readonly selector: string | null;
  /** The wallet's own legs, in order: the transaction's value before what calls moved; of logs by their index. */
  readonly coins: readonly CoinLeg[];
  readonly tokens: readonly TokenLeg[];
  readonly nfts: readonly NftLeg[];
  /** Tokens that an imported list names. */
  readonly listed: ReadonlySet<Address>;
  /** Approvals with the wallet as owner: whether each gives something. Of one NFT: none of these. */
  readonly approvals: readonly { readonly isGranted: boolean }[];
  readonly trades: readonly TradePart[];
  /** What events of protocols say of the wallet. */
  readonly evidence: ReadonlySet<Evidence>;
  /** Whether what calls inside moved is known. */
  readonly isTraced: boolean;
}

/** What clients switch over: these and no others. */
export const CATEGORIES = [
  'send',
  'receive',
  'token send',
  'token receive',
  'nft send',
  'nft receive',
  'token swap',
  'deposit',
  'withdraw',
  'nft purchase',
  'nft sale',
  'airdrop',
  'mint',
  'burn',
  'borrow',
  'contract interaction',
  'approve',
  'revoke',
] as const;
export type Category = (typeof CATEGORIES)[number];

/** A finer word, each only where an event, or a rule, says so. */
export const CATEGORY_DETAILS = [
  'wrap',
  'unwrap',
  'share',
  'repay',
  'stake',
  'unstake',
  'claim',
  'bridge',
  'liquidity add',
  'liquidity remove',
  'permit',
  'nft offer',
  'contract creation',
  'poisoning',
] as const;
export type CategoryDetail = (typeof CATEGORY_DETAILS)[number];

export interface Classification {
  readonly category: Category;
  /** Null where nothing finer is known. */
  readonly detail: CategoryDetail | null;
  /** Whether the category rests on what can't be seen without traces. */
  readonly isInferred: boolean;
  /** The row of the table that decided. */
  readonly row: number;
}
