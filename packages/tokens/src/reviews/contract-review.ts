import type { Address, ChainId } from '@chainstead/core';

export const REPORT_TYPES = ['spam', 'not_spam'] as const;
export const CONTRACT_TYPES = ['ERC20', 'NFT'] as const;

/** What a client reports of a contract. */
export interface ContractReview {
  readonly address: Address;
  readonly contractType: (typeof CONTRACT_TYPES)[number];
  readonly reportType: (typeof REPORT_TYPES)[number];
  readonly reason: string;
}

/** Whose reports they are, and of which chain's contracts. */
export interface Reporter {
  /** Principal's id. */
  readonly keyId: string;
  readonly chainId: ChainId;
}

/** Source name of scam lists with the reviews that operators applied. */
export const REVIEWS_SOURCE = 'reviews';
