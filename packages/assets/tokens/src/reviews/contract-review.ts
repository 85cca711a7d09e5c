import type { Address } from '@chainstead/core';

export const REPORT_TYPES = ['spam', 'not_spam'] as const;
export const CONTRACT_TYPES = ['ERC20', 'NFT'] as const;

export interface ContractReview {
  readonly address: Address;
  readonly contractType: (typeof CONTRACT_TYPES)[number];
  readonly reportType: (typeof REPORT_TYPES)[number];
  readonly reason: string;
}

export const REVIEWS_SOURCE = 'reviews';
