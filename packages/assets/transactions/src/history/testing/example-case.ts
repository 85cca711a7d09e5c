import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import type { CoinLeg, NftLeg, TokenLeg, WalletTransaction } from '../classification/classification-features.ts';

export const ME: Address = addressOf(0xa11ce);
export const BOB: Address = addressOf(0xb0b);
export const ROUTER: Address = addressOf(0x4007e4);
export const VAULT: Address = addressOf(0x7a017);
export const USDC: Address = addressOf(0x05dc);
export const DAI: Address = addressOf(0xda1);
export const APES: Address = addressOf(0xa9e5);
export const CARDS: Address = addressOf(0xca4d5);
export const NOBODY: Address = ZERO_ADDRESS;
export const DEAD: Address = `0x${'dead'.padStart(40, '0')}` as Address;

/** A transaction that the wallet sent to a contract, with only the given facts. */
export function exampleCase(given: Partial<WalletTransaction> = {}): WalletTransaction {
  return {
    wallet: ME,
    from: ME,
    to: ROUTER,
    status: 1,
    method: null,
    selector: null,
    coins: [],
    tokens: [],
    nfts: [],
    listed: new Set(),
    approvals: [],
    trades: [],
    evidence: new Set(),
    isTraced: false,
    ...given,
  };
}

let logs = 0;

export function coin(from: Address, to: Address, value = 1n, isInternal = false): CoinLeg {
  return { from, to, value, isInternal };
}

/** Each later than the previous one. */
export function token(address: Address, from: Address, to: Address, value = 5n): TokenLeg {
  logs += 1;
  return { token: address, from, to, value, logIndex: logs };
}

/** Each later than the previous one. @param operator of an ERC-1155 */
export function nft(address: Address, from: Address, to: Address, operator: Address | null = null): NftLeg {
  logs += 1;
  return { token: address, tokenId: '7', from, to, amount: 1n, operator, logIndex: logs };
}
