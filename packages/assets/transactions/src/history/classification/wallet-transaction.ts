import type { Address } from '@chainstead/core';
import type { Evidence } from '../../evidence/evidence.ts';

export interface CoinLeg {
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly isInternal: boolean;
  /** Minted by a deposit from the chain below: nothing is paid here. @default false */
  readonly isMinted?: boolean;
}

export interface TokenLeg {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  readonly logIndex: number;
}

export interface NftLeg {
  readonly token: Address;
  readonly tokenId: string;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  readonly operator: Address | null;
  readonly logIndex: number;
}

export interface TradePart {
  readonly role: 'buyer' | 'seller';
  readonly isOffer: boolean;
}

export interface WalletTransaction {
  readonly wallet: Address;
  readonly from: Address;
  readonly to: Address | null;
  /** Null before Byzantium. */
  readonly status: 0 | 1 | null;
  readonly method: string | null;
  readonly selector: string | null;
  readonly coins: readonly CoinLeg[];
  readonly tokens: readonly TokenLeg[];
  readonly nfts: readonly NftLeg[];
  readonly listed: ReadonlySet<Address>;
  readonly approvals: readonly { readonly isGranted: boolean }[];
  readonly trades: readonly TradePart[];
  readonly evidence: ReadonlySet<Evidence>;
  readonly isTraced: boolean;
}

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
  readonly detail: CategoryDetail | null;
  readonly isInferred: boolean;
  readonly row: number;
}
